"""The labelled commands, judged in the directory they assume. Rules of the labels: docs of the cases."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from sekisho.core.action import Effect
from shim.context import Context, Place
from shim.facts import WorkingFiles
from shim.observe import observe_shell
from tests.support.needs import needs

HERE = Path(__file__).parent
PASSING = {"read", "local"}
GUARDED = {"destructive", "external", "unknown", "forbidden"}


@dataclass(frozen=True)
class Row:
    id: str
    command: str
    effect: str
    acceptable: frozenset[str]
    kind: str


@dataclass(frozen=True)
class Judged:
    row: Row
    effect: str

    @property
    def leaks(self) -> bool:
        """Something outside, or local work, would be lost without anybody being asked."""
        harmful = self.row.effect in ("external", "destructive")
        return harmful and self.effect in PASSING and self.effect not in self.row.acceptable

    @property
    def passes_unknown(self) -> bool:
        return self.row.effect == "unknown" and self.effect in PASSING

    @property
    def false_hold(self) -> bool:
        return self.row.effect in PASSING and not {self.effect} & (PASSING | self.row.acceptable)

    @property
    def exact(self) -> bool:
        return self.effect in self.row.acceptable

    def __str__(self) -> str:
        return f"{self.row.id} {self.row.effect} judged {self.effect}: {self.row.command!r}"


def rows() -> list[Row]:
    found = []
    for line in (HERE / "commands.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        acceptable = frozenset((row["effect"], *row.get("also_ok", ())))
        found.append(Row(row["id"], row["command"], row["effect"], acceptable, row["kind"]))
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    subprocess.run(
        ["bash", str(HERE / "fixture.sh"), str(folder)], check=True, capture_output=True, timeout=60
    )
    return folder / "app"


def judged(tree: Path, place: Place) -> list[Judged]:
    found = []
    for row in rows():
        context = Context(cwd=str(tree), home="/home/dev", place=place, files=WorkingFiles(str(tree)))
        found.append(Judged(row, observe_shell(row.command, context).effect.value))
    return found


def shown(found: list[Judged]) -> str:
    return "\n".join(map(str, found))


@needs("git", "bash")
@pytest.mark.parametrize("place", list(Place))
def test_no_external_or_destructive_command_is_let_through(tree: Path, place: Place) -> None:
    found = [one for one in judged(tree, place) if one.leaks]
    assert not found, shown(found)


@needs("git", "bash")
@pytest.mark.parametrize("place", list(Place))
def test_no_unknown_command_passes_as_known(tree: Path, place: Place) -> None:
    found = [one for one in judged(tree, place) if one.passes_unknown]
    assert not found, shown(found)


@needs("git", "bash")
@pytest.mark.parametrize("place", list(Place))
def test_at_most_two_percent_of_harmless_commands_are_held(tree: Path, place: Place) -> None:
    everything = judged(tree, place)
    found = [one for one in everything if one.false_hold]
    harmless = [one for one in everything if one.row.effect in PASSING]
    assert len(found) <= 0.02 * len(harmless), shown(found)


@needs("git", "bash")
def test_the_class_is_exact_for_95_percent(tree: Path) -> None:
    everything = judged(tree, Place.SANDBOX)
    wrong = [one for one in everything if not one.exact]
    assert len(wrong) <= 0.05 * len(everything), shown(wrong)


@needs("git", "bash")
def test_judging_changes_nothing_in_the_tree(tree: Path) -> None:
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in tree.rglob("*"))
    judged(tree, Place.HOST)
    assert sorted((str(path), path.lstat().st_mtime_ns) for path in tree.rglob("*")) == before


def test_every_class_of_effect_is_among_the_cases() -> None:
    assert {row.effect for row in rows()} == PASSING | (GUARDED - {"forbidden"})
    assert all(row.effect in Effect for row in rows())


# -- more of the same kinds, so that no class is met by its sample alone -----------------------------------


@needs("git", "bash")
def test_more_commands_of_the_same_kinds_are_judged_alike(tree: Path) -> None:
    wrong, leaks, total = [], [], 0
    for line in (HERE / "commands_more.jsonl").read_text("utf-8").splitlines():
        total += 1
        row = json.loads(line)
        context = Context(cwd=str(tree), home="/home/dev", place=Place.SANDBOX, files=WorkingFiles(str(tree)))
        effect = observe_shell(row["command"], context).effect.value
        if effect != row["effect"]:
            wrong.append((row["effect"], effect, row["command"]))
        if row["effect"] in ("external", "destructive", "unknown") and effect in PASSING:
            leaks.append(row["command"])
    assert not leaks
    assert len(wrong) <= 0.02 * total, wrong
