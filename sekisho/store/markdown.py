"""Foreign text in Markdown that nothing in it can break out of.

Rules of https://spec.commonmark.org/0.31.2/ (4.5 fenced code blocks, 6.1 code spans): within code only
a run of backticks as long as the opening one, or for blocks at least as long, ends it.
"""

import re

from sekisho.core.display import LINE_LIMIT, one_line, visible

BLOCK_LINES = 300
_SHORTEST_FENCE = 3
NOTHING = "(nothing)"


def span(text: str, limit: int = LINE_LIMIT) -> str:
    """One line of text as a code span; line feeds appear as spaces."""
    shown = one_line(text, limit) or NOTHING
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(text: str, lines: int = BLOCK_LINES) -> str:
    """Text as a fenced code block, at most `lines` long; it says how many lines were left out."""
    shown = visible(text).split("\n")
    if len(shown) > lines:
        shown = [*shown[:lines], f"… {len(shown) - lines} more lines"]
    body = "\n".join(shown)
    fence = "`" * max(_SHORTEST_FENCE, _longest_run(body) + 1)
    return f"{fence}text\n{body}\n{fence}"


def name(text: str) -> str:
    """A file name on one line: a line feed or tab in it is spelled out, not turned into a space."""
    return visible(text.replace("\n", "<U+000A>").replace("\t", "<U+0009>"))


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
