"""What a page says can be run as it is, is run; and a session it shows looks like that.

A block after `<!-- run -->` must end with 0. In a `console` block each `$ ` line is run, and what follows it
is compared with what is printed; a line `...` stands for any lines. All blocks of a page share a repository.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import Block, Page, every_page

PAGES = [
    page for page in every_page() if any(page.blocks("console")) or any(b.run for b in page.blocks("sh"))
]


def _runnable(page: Page) -> list[Block]:
    blocks = [*page.blocks("console"), *(block for block in page.blocks("sh") if block.run)]
    return sorted(blocks, key=lambda block: block.line)


def _steps(block: Block) -> Iterator[tuple[str, list[str] | None]]:
    """Each script of a block with the lines it prints; None where the page does not say."""
    if block.language == "sh":
        yield block.text, None
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *printed = part.rstrip("\n").split("\n")
        yield command, printed


def _fits(wanted: list[str], printed: list[str]) -> bool:
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in wanted)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    return path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of a person with an empty home, on whose PATH sekisho is."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "SEKISHO_HOME": str(home / "sekisho")}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_what_is_said_to_run_runs(page: Page, repository: Path, environment: dict[str, str]) -> None:
    for block in _runnable(page):
        for script, wanted in _steps(block):
            done = subprocess.run(
                ["bash", "-euc", script],
                cwd=repository,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0 or wanted is not None, f"{block}: {script}\n{done.stdout}"
            if wanted is not None:
                assert _fits(wanted, done.stdout.rstrip("\n").split("\n")), (
                    f"{block}: {script}\n{done.stdout}"
                )


def test_some_pages_are_run() -> None:
    assert {page.name for page in PAGES} >= {"README.md", "docs/policy.md"}


@pytest.mark.parametrize(
    ("wanted", "printed", "fits"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "..."], ["a", "b", "c"], True),
        (["a", "..."], ["a"], True),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a"], ["a", "b"], False),
        (["a", "...", "d"], ["a", "b"], False),
        (["a.b"], ["axb"], False),
    ],
)
def test_what_is_shown_is_compared(wanted: list[str], printed: list[str], fits: bool) -> None:
    assert _fits(wanted, printed) is fits
