"""The pages of the documentation, taken apart: blocks of code, code in prose, links, tables."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
RUN_MARK = "<!-- run -->"

_FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A block of code; `line` is the line of its fence. `run`: the page says that it can be run as it is."""

    page: str
    line: int
    language: str
    text: str
    run: bool = False

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One Markdown file. `name` is its path from the top of the repository."""

    name: str
    text: str

    def __str__(self) -> str:
        return self.name

    @property
    def prose(self) -> str:
        """The text without its blocks."""
        return _FENCE.sub("", self.text)

    @property
    def anchors(self) -> frozenset[str]:
        """What `#...` may lead to, as GitHub names headings."""
        plain = (re.sub(r"[^\w\- ]", "", heading).lower() for heading in _HEADING.findall(self.prose))
        return frozenset(text.replace(" ", "-") for text in plain)

    def blocks(self, language: str) -> Iterator[Block]:
        """Its blocks in one language."""
        for match in _FENCE.finditer(self.text):
            before = self.text[: match.start()]
            if match[2] == language:
                yield Block(
                    page=self.name,
                    line=before.count("\n") + 1,
                    language=language,
                    text=match[3],
                    run=before.rstrip().endswith(RUN_MARK),
                )

    def spans(self) -> list[str]:
        """Code in prose."""
        return _SPAN.findall(self.prose)

    def links(self) -> list[str]:
        """Where its links and pictures lead."""
        return _LINK.findall(self.prose)

    def rows(self, header: str) -> Iterator[list[str]]:
        """The rows of every table whose first column is headed `header`, cells stripped."""
        inside = False
        for line in self.prose.splitlines():
            cells = [cell.strip() for cell in _CELL.split(line.strip())[1:-1]]
            if not cells:
                inside = False
            elif cells[0] == header:
                inside = True
            elif inside and set(cells[0]) - set("-: "):
                yield cells


def _page(path: Path) -> Page:
    return Page(name=str(path.relative_to(ROOT)), text=path.read_text("utf-8"))


def page(name: str) -> Page:
    """One page by its path from the top."""
    return _page(ROOT / name)


def every_page() -> list[Page]:
    """README, CHANGELOG and everything in docs/."""
    return [page("README.md"), page("CHANGELOG.md"), *map(_page, sorted((ROOT / "docs").glob("**/*.md")))]


def every_block(language: str) -> list[Block]:
    """All blocks in one language, of all pages."""
    return [block for one in every_page() for block in one.blocks(language)]
