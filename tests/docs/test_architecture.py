"""docs/architecture.md has a row for each room, and what it says a room imports is all that it imports."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, page

ROWS = {row[0].strip("`"): row[2] for row in page("docs/architecture.md").rows("folder")}
OURS = ("sekisho", "shim", "netpolicy", "sandbox")
FREE = ("all above", "anything", "")
CHECKED = [folder for folder, imports in ROWS.items() if imports not in FREE]


def _may(folder: str, other: str) -> bool:
    """Whether its row lets a room import another: itself, a room it names, or a part of one it names."""
    named = re.findall(r"`([a-z/]+)`", ROWS[folder])
    rooms = [name if name in ROWS else f"sekisho/{name}" for name in named]
    parts = [folder] if "its parts" in ROWS[folder] else []
    return other in (folder, *rooms) or any(other.startswith(f"{room}/") for room in (*rooms, *parts))


def _room(path: Path) -> str:
    """The row that a module belongs to: the deepest one above it."""
    parts = path.relative_to(ROOT).parts
    above = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in above if name in ROWS), "")


def _imported(file: Path) -> set[str]:
    """The rooms of our modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    paths = (ROOT.joinpath(*name.split(".")) for name in names if name.partition(".")[0] in OURS)
    return {_room(path) for path in paths if path.is_dir() or path.with_suffix(".py").is_file()} - {""}


@pytest.mark.parametrize("folder", ROWS)
def test_a_row_is_about_a_folder(folder: str) -> None:
    assert (ROOT / folder).is_dir()


def test_every_room_has_a_row() -> None:
    rooms = {path.parent for top in OURS for path in (ROOT / top).glob("*/__init__.py")} | {
        ROOT / top for top in OURS
    }
    rooms -= {ROOT / "sekisho"}  # its parts are rooms of their own
    named = page("docs/architecture.md").text
    missing = [str(room.relative_to(ROOT)) for room in rooms if not _is_named(room, named)]
    assert not missing


def _is_named(room: Path, text: str) -> bool:
    """By a row; or, what belongs to a room, in that room's row."""
    return str(room.relative_to(ROOT)) in ROWS or f"`{room.name}/`" in text


@pytest.mark.parametrize("folder", CHECKED)
def test_a_room_imports_what_its_row_says(folder: str) -> None:
    files = [file for file in (ROOT / folder).rglob("*.py") if _room(file) == folder]
    assert files
    for file in files:
        beyond = [other for other in sorted(_imported(file)) if not _may(folder, other)]
        assert not beyond, f"{file.relative_to(ROOT)} imports {beyond}"
