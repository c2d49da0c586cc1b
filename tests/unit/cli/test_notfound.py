"""A command that is not found inside: why, and what next."""

from pathlib import Path

import pytest

from sekisho.cli.notfound import Looked, explained, left_outside

TREE = Path("/home/kim/app")


def looked(name: str, **more: object) -> Looked:
    return Looked(name=name, project=TREE, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("case", "why", "instead"),
    [
        (looked("nosuch"), "not on your PATH", "install it"),
        (looked("firefox"), "absent inside", 'sandbox.tools.keep = ["firefox"]'),
        (looked("python3", found="/usr/bin/python3", only=("git",)), "sandbox.tools.only", "add it"),
        (looked("nosuch", image=True), "not in the image", "sekisho image build"),
        (looked("./nosuch"), "no such file", "path"),
        (looked("./node_modules/.bin/x", outside=TREE / "node_modules/.bin/x"), "ignored", "sandbox.carry"),
        (looked("/opt/x", outside=Path("/opt/x")), "not mounted", "sandbox.mount"),
    ],
)
def test_what_is_not_there_is_explained(case: Looked, why: str, instead: str) -> None:
    said = explained(case)
    assert said is not None
    assert why in said[0]
    assert instead in said[1]


@pytest.mark.parametrize(
    "case",
    [
        looked("sh", found="/usr/bin/sh"),
        looked("git", found="/usr/bin/git", only=("git",)),
        looked("./test.sh", outside=TREE / "test.sh", inside=True),
        looked("sh", found="/usr/bin/sh", image=True),
    ],
)
def test_a_command_that_ended_so_by_itself_is_not_said_to_be_missing(case: Looked) -> None:
    assert explained(case) is None


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a script, a mounted folder, a project, each with a file."""
    for name in ("agent.sh", "bin/tool", "app/run.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["{home}/agent.sh"], "{home}/agent.sh"),
        (["-x", "./run.sh", "../agent.sh"], "../agent.sh"),
        (["./run.sh", "{home}/bin/tool", "/usr/bin/env", "{home}/absent.sh"], None),
        (["-c", "echo hello; cat {home}/agent.sh", "a\0b", "x" * 5000], None),
    ],
)
def test_a_file_of_home_that_a_command_names_and_that_is_not_inside_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], found: str | None
) -> None:
    monkeypatch.chdir(home / "app")
    said = left_outside([word.format(home=home) for word in words], home / "app", home, [str(home / "bin")])
    assert said == (found and found.format(home=home))
