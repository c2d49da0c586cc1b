"""One approval is one execution of exactly what was approved, whatever is tried with it."""

import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sekisho.core.lifecycle import State
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.clock import Reading, read_clock
from sekisho.store.errors import AlreadyUsed, Expired, LedgerError, Void
from sekisho.store.holds import Hold
from tests.e2e.direct import ask, held, hold_id, opened, post, session_state
from tests.e2e.world import World, make_world

DAY = 86_400.0


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("approvals")) as made:
        yield made


def plain(hold: Hold) -> dict[str, str]:
    return {"id": hold.id}


def sent(world: World, path: str) -> int:
    """How often the upstream saw a write to `path`."""
    return sum(write["path"] == path for write in world.writes())


def approve_here(world: World, hold: Hold) -> None:
    """A person's yes, not used yet."""
    with opened(world) as store:
        store.ledger.approve(hold.id, "kim", 1800)


def refused_here(world: World, hold: Hold) -> Hold:
    """Try to execute in this process, which must be refused; the hold afterwards."""
    with opened(world) as store:
        with pytest.raises((LedgerError, NotExecuted)):
            execute(store, hold.id)
        return store.ledger.get(hold.id)


def edit(world: World, statement: str, *values: object) -> None:
    """Change the ledger behind everybody's back."""
    with sqlite3.connect(world.sekisho.home / "state" / "ledger.db") as conn:
        assert conn.execute(statement, values).rowcount == 1
    conn.close()


def test_a_used_approval_sends_nothing_again(world: World) -> None:
    hold = held(world, "/replay", b"one")
    world.approve(plain(hold))
    for _ in range(2):
        assert "done" in world.approve(plain(hold), status=1).err
    with opened(world) as store, pytest.raises(AlreadyUsed):
        execute(store, hold.id)
    assert sent(world, "/replay") == 1


def test_two_approvers_at_once_execute_once(world: World) -> None:
    hold = held(world, "/race", b"one")
    argv = world.sekisho.argv("approvals", "approve", hold.id)
    running = [
        subprocess.Popen(
            argv,
            env=world.sekisho.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    ended = [(process.communicate(timeout=60), process.returncode) for process in running]
    assert sorted(status for _, status in ended) == [0, 1, 1], ended
    assert all("Traceback" not in err for (_, err), _ in ended)
    assert sent(world, "/race") == 1


def test_a_clock_set_back_does_not_prolong_an_approval(world: World) -> None:
    hold = held(world, "/clock", b"one")
    with opened(world) as store:
        store.ledger.approve(hold.id, "kim", 60)
    now = read_clock()

    def later() -> Reading:
        return msgspec.structs.replace(now, wall=now.wall + 120, boot=now.boot + 120)

    def back() -> Reading:
        return msgspec.structs.replace(now, wall=now.wall - DAY, boot=now.boot + 121)

    def after_reboot() -> Reading:
        return msgspec.structs.replace(now, wall=now.wall - DAY, boot=5.0, boot_id="another")

    with opened(world, later) as store:
        store.ledger.crashed()  # any transaction moves the mark
    for clock in (back, after_reboot):
        with opened(world, clock) as store, pytest.raises(Expired):
            execute(store, hold.id)
    assert sent(world, "/clock") == 0
    # The mark that this test left behind must not age the others' approvals.
    edit(world, "DELETE FROM meta WHERE name = 'clock'")


def test_an_approval_ends_when_it_says(world: World) -> None:
    hold = held(world, "/expiry", b"one")
    world.approve(plain(hold), "--expires", "1s", "--no-execute")
    time.sleep(2.1)
    assert refused_here(world, hold).state is State.PENDING
    assert refused_here(world, hold).approval is None
    assert sent(world, "/expiry") == 0
    # Only another yes has it sent, and that one once.
    world.approve(plain(hold))
    assert refused_here(world, hold).state is State.DONE
    assert sent(world, "/expiry") == 1


def test_approving_one_body_does_not_send_another(world: World) -> None:
    """The same path with another body is another hold; the approval of the first leaves it alone."""
    first, second = held(world, "/swap", b"harmless"), held(world, "/swap", b"harmful")
    assert first.id != second.id
    world.approve(plain(first))
    (write,) = [w for w in world.writes() if w["path"] == "/swap"]
    assert write["size"] == len(b"harmless")
    assert world.state(plain(second)) == "pending"


def test_json_that_only_looks_the_same_is_sent_as_it_was_shown(world: World) -> None:
    """A retry with other spacing folds into the hold; what leaves is the first form, the one approved."""
    kind = ("Content-Type", "application/json")
    with opened(world) as store:
        state = session_state(world)
        first = hold_id(ask(store, state, post("/json", b'{"a": 1, "b": 2}', kind)))
        assert hold_id(ask(store, state, post("/json", b'{"b":2,"a":1}', kind))) == first
        assert store.ledger.get(first).count == 2
    world.approve({"id": first})
    (write,) = [w for w in world.writes() if w["path"] == "/json"]
    assert write["size"] == len(b'{"a": 1, "b": 2}')


def test_a_body_changed_on_the_disk_after_approval_is_not_sent(world: World) -> None:
    hold = held(world, "/blob", b"the approved body")
    world.approve(plain(hold), "--no-execute")
    with opened(world) as store:
        store.blobs.path(hold.artifact["body"]).write_bytes(b"the exchanged one")
    refused = world.approve(plain(hold), status=1)
    assert "nothing was sent" in refused.err
    assert "changed" in refused.err
    assert world.state(plain(hold)) == "void"
    assert sent(world, "/blob") == 0


def test_a_body_that_is_gone_is_not_replaced_by_nothing(world: World) -> None:
    hold = held(world, "/gone", b"the approved body")
    world.approve(plain(hold), "--no-execute")
    with opened(world) as store:
        store.blobs.remove(hold.artifact["body"])
    assert "nothing was sent" in world.approve(plain(hold), status=1).err
    assert sent(world, "/gone") == 0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("token", "json_set(approval, '$.token', 'forged')"),
        ("expiry", "json_set(approval, '$.binding.expires_at', 9999999999)"),
        ("approver", "json_set(approval, '$.binding.approver', 'boss')"),
        ("target", "json_set(approval, '$.binding.target', 'https://api.test/elsewhere')"),
        ("digest", "json_set(approval, '$.binding.digest', 'sha256:00')"),
    ],
)
def test_an_edited_approval_is_void(world: World, name: str, change: str) -> None:
    hold = held(world, f"/edited-{name}", b"x")
    approve_here(world, hold)
    edit(world, f"UPDATE holds SET approval = {change} WHERE id = ?", hold.id)
    assert refused_here(world, hold).state is State.VOID
    assert sent(world, f"/edited-{name}") == 0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("path", "json_set(artifact, '$.path', '/other')"),
        ("method", "json_set(artifact, '$.method', 'DELETE')"),
        ("host", "json_set(artifact, '$.host', 'api.prod.test')"),
        ("header", "json_set(artifact, '$.headers[0][1]', 'api.prod.test')"),
        ("body", "json_remove(artifact, '$.body')"),
    ],
)
def test_an_artifact_edited_in_the_ledger_is_not_sent(world: World, name: str, change: str) -> None:
    hold = held(world, f"/artifact-{name}", b"x")
    approve_here(world, hold)
    before = world.upstream.journal.writes()
    edit(world, f"UPDATE holds SET artifact = {change} WHERE id = ?", hold.id)
    assert refused_here(world, hold).state is State.VOID
    assert world.upstream.journal.writes() == before


def test_an_approval_moved_to_another_hold_is_void(world: World) -> None:
    given, other = held(world, "/given", b"same"), held(world, "/other", b"same")
    approve_here(world, given)
    edit(
        world,
        "UPDATE holds SET state = 'approved', approval = (SELECT approval FROM holds WHERE id = ?)"
        " WHERE id = ?",
        given.id,
        other.id,
    )
    assert refused_here(world, other).state is State.VOID
    assert sent(world, "/other") == 0


def test_a_state_set_by_hand_is_no_approval(world: World) -> None:
    hold = held(world, "/by-hand", b"x")
    edit(world, "UPDATE holds SET state = 'approved' WHERE id = ?", hold.id)
    refused_here(world, hold)
    assert sent(world, "/by-hand") == 0


def test_a_spent_hold_set_back_by_hand_is_seen(world: World) -> None:
    """Whoever edits the ledger can bring an approval back; the journal tells who has been sent."""
    hold = held(world, "/set-back", b"x")
    world.approve(plain(hold))
    with opened(world) as store:
        kinds = [r.kind for r in store.journal.query(kind="act") if r.subject == hold.id]
    assert kinds == ["act.executing", "act.done"]


def test_a_revoked_approval_sends_nothing(world: World) -> None:
    hold = held(world, "/revoked", b"x")
    world.approve(plain(hold), "--no-execute")
    world.told("approvals", "revoke", hold.id)
    world.approve(plain(hold), status=1)
    assert sent(world, "/revoked") == 0


def test_an_executor_that_dies_leaves_it_unknown_and_the_target_closed(world: World) -> None:
    hold = held(world, "/dies", b"x")
    script = (
        "import os, sys; from sekisho.store.store import Store; s = Store();"
        "s.ledger.approve(sys.argv[1], 'kim', 60);"
        "s.ledger.consume(sys.argv[1], None, sys.argv[2]); os._exit(9)"
    )
    import sys

    subprocess.run(
        [sys.executable, "-I", "-c", script, hold.id, hold.digest],
        env=world.sekisho.environment(),
        check=False,
    )
    world.told("approvals", "list")
    assert world.state(plain(hold)) == "unknown"
    world.approve(plain(hold), status=1)
    again = held(world, "/dies", b"y")
    assert "stays closed" in world.approve(plain(again), status=1).err
    assert sent(world, "/dies") == 0


def test_an_execution_in_this_process_is_refused_without_an_approval(world: World) -> None:
    hold = held(world, "/unapproved", b"x")
    with opened(world) as store, pytest.raises((LedgerError, NotExecuted, Void)):
        execute(store, hold.id)
    assert world.state(plain(hold)) == State.PENDING
    assert sent(world, "/unapproved") == 0


def test_the_ledgers_files_are_the_persons_alone(world: World) -> None:
    held(world, "/modes", b"x")
    open_to_others = [
        path
        for path in (world.sekisho.home / "state").rglob("*")
        if not path.is_symlink() and path.stat().st_mode & 0o077 and _reachable(path)
    ]
    assert open_to_others == []


def _reachable(path: Path) -> bool:
    """Whether every folder above it, up to the state folder, lets others through."""
    return all(parent.stat().st_mode & 0o011 for parent in path.parents if "home" in parent.parts)
