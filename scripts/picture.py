"""Draw docs/demo.svg: the telling parts of a real `sekisho demo`, which this runs.

scripts/bootstrap.sh -- python scripts/picture.py
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

TARGET = Path(__file__).resolve().parents[1] / "docs" / "demo.svg"
WIDTH = 104

# Section of the demo -> the lines of it that are shown; the rest is for reading, not for a picture.
SHOWN: dict[str, re.Pattern[str]] = {
    "1": re.compile(
        r"^\$ |fetched|^Ran |^remote: |remote rejected"
        r"|^sekisho: (held|session)|^ *(why|next):|^ *held H"
    ),
    "3": re.compile(r"^ID|^H-"),
    "5": re.compile(r"^H-"),
    "6": re.compile(r"not executed|why:"),
    "7": re.compile(r"POST .*(git-receive-pack|api\.test)"),
    "8": re.compile("whole"),
    "9": re.compile("^[0-9]"),
}
STYLES = (
    ("held", "bold yellow"),
    (r"\bpending\b", "yellow"),
    (r"\bdone\b|\bthe journal is whole\b|\bfetched\b", "green"),
    (r"\[remote rejected\]|\bnot executed\b", "red"),
    (r"H-[0-9A-Z]{6}", "cyan"),
    (r"^  \$ .*", "bold"),
    (r"\b20[01] POST\b", "green"),
)


def played() -> str:
    """What the demo prints."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "sekisho", "demo"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def excerpts(text: str) -> Iterator[Text]:
    """The lines to show, styled. Fails where the demo has changed and a section shows nothing."""
    sections = re.split(r"^(\d+)\. (.+)\n", text, flags=re.MULTILINE)[1:]
    found = dict(zip(sections[::3], zip(sections[1::3], sections[2::3], strict=True), strict=True))
    for number, wanted in SHOWN.items():
        title, body = found[number]
        lines = [line.rstrip() for line in body.splitlines() if wanted.search(line[2:])]
        if not lines:
            raise SystemExit(f"section {number} of the demo shows nothing any more: {title}")
        yield Text(title.strip(), style="bold underline")
        yield from (_styled(line) for line in lines)
        yield Text("")


def _styled(line: str) -> Text:
    text = Text(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…")
    for pattern, style in STYLES:
        text.highlight_regex(pattern, style)
    return text


def template() -> str:
    """rich's template without fonts from elsewhere (the picture asks no host for anything), spaces kept."""
    plain = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    plain = plain.replace("Fira Code", "ui-monospace, DejaVu Sans Mono")
    return plain.replace("<svg ", '<svg xml:space="preserve" ', 1)


def main() -> None:
    """Run the demo and write the picture."""
    console = Console(
        record=True, width=WIDTH, file=sys.stderr, force_terminal=True, color_system="truecolor"
    )
    for line in excerpts(played()):
        console.print(line, no_wrap=True)
    console.save_svg(str(TARGET), title="sekisho demo", code_format=template(), unique_id="sekisho")


if __name__ == "__main__":
    main()
