"""The shell's completion: commands, ids, and nothing that an agent wrote."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sekisho.cli import completing
from sekisho.cli.main import COMMANDS
from sekisho.core.lifecycle import State
from sekisho.store.store import Store
from tests.support.upstream import Sekisho
from tests.unit.store.support import held, push

EVIL = "$(touch pwned)`id`'\";x"


@pytest.fixture
def store(sekisho_home: Path) -> Iterator[Store]:
    with Store() as opened:
        yield opened


def completed(run: Sekisho, line: str, shell: str = "bash") -> list[str]:
    """What a shell is offered at the end of a line."""
    done = run(
        _SEKISHO_COMPLETE=f"complete_{shell}",
        COMP_WORDS=line,
        COMP_CWORD=str(line.count(" ")),
        _TYPER_COMPLETE_ARGS=line,
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    assert done.err == ""
    return done.out.split() if shell == "bash" else done.out.splitlines()


@pytest.fixture
def run(run_sekisho: Sekisho, monkeypatch: pytest.MonkeyPatch) -> Sekisho:
    """The command under its own name, which completion goes by."""
    script = Path(sys.executable).with_name("sekisho")
    if not script.exists():
        pytest.skip("the command is not installed beside this python")
    monkeypatch.setattr(Sekisho, "argv", lambda self, *args: [str(script), *map(str, args)])
    return run_sekisho


def test_commands_are_offered_without_importing_them_all(run: Sekisho) -> None:
    assert completed(run, "sekisho ") == list(COMMANDS)
    assert completed(run, "sekisho app") == ["approvals"]
    assert "show" in completed(run, "sekisho sessions ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_ids_are_offered_in_every_shell(run: Sekisho, store: Store, shell: str) -> None:
    hold = held(store, action=push(EVIL)).id
    session = store.sessions.create().id
    offered = "\n".join(completed(run, "sekisho approvals show ", shell))
    assert hold in offered
    assert "pwned" not in offered
    assert session in "\n".join(completed(run, "sekisho sessions show ", shell))


def test_what_waits_comes_first(store: Store) -> None:
    first = held(store, digest="sha256:1").id
    second = held(store, digest="sha256:2").id
    store.ledger.deny(first, "no", "kim")
    assert completing.holds("") == [(second, "pending"), (first, "denied")]
    assert completing.holds(second[:-1].lower()) == [(second, "pending")]
    assert completing.holds("H-%") == []


def test_only_what_a_command_can_decide_is_offered(run: Sekisho, store: Store) -> None:
    pending, approved, unknown, denied = (
        held(store, digest=f"sha256:{n}", fingerprint=str(n), action=push(str(n))).id for n in range(4)
    )
    store.ledger.approve(approved, "kim", 60)
    store.ledger.approve(unknown, "kim", 60)
    store.ledger.consume(unknown, None, "sha256:2")
    store.ledger.finish(unknown, State.UNKNOWN, {})
    store.ledger.deny(denied, "no", "kim")
    assert {*completed(run, "sekisho approvals approve ")} == {pending, approved}
    assert completed(run, "sekisho approvals deny ") == [pending]
    assert completed(run, "sekisho approvals revoke ") == [approved]
    assert completed(run, "sekisho approvals settle ") == [unknown]
    assert completed(run, f"sekisho approvals settle {unknown} ") == ["done", "failed"]


def test_sessions_are_offered_to_go_on_from(run: Sekisho, store: Store) -> None:
    session = store.sessions.create().id
    assert completed(run, "sekisho run --from ") == [session]


def test_without_a_store_nothing_is_offered_and_nothing_made(sekisho_home: Path) -> None:
    assert completing.holds("") == []
    assert completing.sessions("") == []
    assert not (sekisho_home / "state" / "ledger.db").exists()


def test_a_damaged_store_offers_nothing(store: Store, sekisho_home: Path) -> None:
    store.close()
    (sekisho_home / "state" / "ledger.db").write_bytes(b"nonsense" * 1000)
    assert completing.holds("") == []


def test_strange_folders_are_not_offered(store: Store, sekisho_home: Path) -> None:
    (sekisho_home / "state" / "sessions" / EVIL).mkdir()
    assert completing.sessions("") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_shown(run: Sekisho, shell: str) -> None:
    # Which shell it is would be guessed from the parents of this process, and CI has none.
    done = run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.status == 0
    assert "_SEKISHO_COMPLETE" in done.out
