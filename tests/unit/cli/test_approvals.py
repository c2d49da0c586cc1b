"""Answers to holds: several at once, too late, of sessions that are over, or after a failed sending."""

import time
from pathlib import Path
from typing import Any

import pytest

from sekisho.cli import approvals
from sekisho.cli.errors import USAGE
from sekisho.cli.holds import next_steps
from sekisho.cli.main import main
from sekisho.core.action import Action, Effect
from sekisho.core.lifecycle import State
from sekisho.core.policy import Approval, Policy
from sekisho.sending import artifact
from sekisho.session.settings import encode
from sekisho.store.holds import Hold
from sekisho.store.processes import Process, this_process
from sekisho.store.sessions import SessionRecord
from sekisho.store.store import Store
from tests.unit.cli.calling import Calling
from tests.unit.store.support import held, push

CLEAN: dict[str, Any] = artifact.encode(
    artifact.CommandAct(argv=("git", "clean", "-f"), cwd="/home/me/x", tool="/usr/bin/git")
)


@pytest.fixture
def unsettled(sekisho_home: Path) -> Hold:
    """A hold whose execution ended unknown, as it was before another person settled it."""
    with Store() as store:
        hold = held(store)
        store.ledger.approve(hold.id, "me", 60)
        store.ledger.consume(hold.id, None, hold.digest)
        store.ledger.finish(hold.id, State.UNKNOWN, {})
        before = store.ledger.get(hold.id)
        store.ledger.settle(hold.id, State.DONE, "another")
    return before


def test_a_settlement_that_comes_second_is_told(
    unsettled: Hold, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(approvals, "named", lambda store, hold_id: unsettled)
    monkeypatch.setattr("sys.argv", ["sekisho", "approvals", "settle", unsettled.id, "failed"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert f"{unsettled.id} was not settled" in capsys.readouterr().err
    with Store() as store:
        assert store.ledger.get(unsettled.id).state is State.DONE


def _hold(*, running: Process | None = None, **changes: Any) -> Hold:
    """A hold of a session that is over, or that the process `running` launched."""
    with Store() as store:
        if running is not None:
            folder = store.sessions.create("1129-aaaaa")
            folder.save(
                SessionRecord(
                    id=folder.id, project="/home/me/x", argv=("bash",), started=1.0, launcher=running
                )
            )
        return held(store, **changes)


def _state(hold: Hold) -> State:
    with Store() as store:
        return store.ledger.get(hold.id).state


def test_a_command_of_a_session_that_is_over_says_who_could_still_run_it(call: Calling) -> None:
    hold = _hold(artifact=CLEAN)
    assert f"sessions that are over; deny what is of no use: {hold.id}" in call("approvals", "list").out
    assert "its session is over" in call("approvals", "show", hold.id).out
    approved = call("approvals", "approve", hold.id)
    assert "its session is over: only a later session in /home/me/x" in approved.out
    assert _state(hold) is State.APPROVED


def test_a_command_of_a_running_session_is_left_to_it(call: Calling) -> None:
    hold = _hold(artifact=CLEAN, running=this_process())
    assert "are over" not in call("approvals", "list").out
    assert "the session may run it once" in call("approvals", "approve", hold.id).out


def test_what_could_not_be_sent_says_that_its_approval_stands(call: Calling) -> None:
    hold = _hold(artifact={"type": "of a later version"})
    failed = call("approvals", "approve", hold.id)
    assert failed.status == 1
    assert f"approvals revoke {hold.id}" in failed.err
    denied = call("approvals", "deny", hold.id, "--reason", "no")
    assert denied.status == 1
    assert f"approvals revoke {hold.id}" in denied.err
    assert call("approvals", "revoke", hold.id).status == 0
    assert _state(hold) is State.VOID


def test_an_approval_that_ended_unused_leaves_the_hold_to_another_yes(call: Calling) -> None:
    hold = _hold(artifact=CLEAN)
    assert call("approvals", "approve", hold.id, "--no-execute", "--expires", "1s").status == 0
    time.sleep(1.1)
    shown = call("approvals", "show", hold.id)
    assert "pending" in shown.out.splitlines()[0]
    assert "ended unused" in shown.out
    assert f"sekisho approvals approve {hold.id}" in shown.out
    assert call("approvals", "approve", hold.id).status == 0
    assert _state(hold) is State.APPROVED


def test_what_could_not_be_sent_is_told_with_its_reason_until_it_is(call: Calling) -> None:
    hold = _hold(artifact={"type": "of a later version"})
    call("approvals", "approve", hold.id)
    shown = call("approvals", "show", hold.id).out
    assert "approved" in shown.splitlines()[0]
    assert "not sent: what was held cannot be read by this version" in shown


def test_what_cannot_be_approved_any_more_says_what_to_do(call: Calling) -> None:
    hold = _hold(artifact=CLEAN)
    assert call("approvals", "deny", hold.id, "--reason", "no").status == 0
    assert "is denied" in call("approvals", "approve", hold.id).err
    gone = _hold(artifact=CLEAN)
    call("approvals", "approve", gone.id)
    call("approvals", "revoke", gone.id)
    assert "asked for again, it is held anew" in call("approvals", "approve", gone.id).err


def test_several_are_approved_in_their_order(call: Calling) -> None:
    first = _hold(artifact=CLEAN, digest="sha256:1", fingerprint="one")
    second = _hold(artifact=CLEAN, digest="sha256:2", fingerprint="two")
    ended = call("approvals", "approve", second.id, first.id)
    assert ended.status == 0
    assert [line.split()[0] for line in ended.out.splitlines()] == [second.id, first.id]
    assert (_state(first), _state(second)) == (State.APPROVED, State.APPROVED)


@pytest.mark.parametrize("options, seconds", [((), 300), (("--expires", "2h"), 7200)])
def test_an_approval_is_good_for_as_long_as_the_policy_or_the_person_says(
    call: Calling, options: tuple[str, ...], seconds: int
) -> None:
    with Store() as store:
        policy = store.blobs.put_bytes(encode(Policy(approval=Approval(expires=300.0)))).sha256
    hold = _hold(artifact=CLEAN, evidence={"policy_blob": policy})
    began = time.time()
    assert call("approvals", "approve", hold.id, "--no-execute", *options).status == 0
    with Store() as store:
        given = store.ledger.get(hold.id).approval
    assert given is not None
    assert seconds - 1 <= given.binding.expires_at - began <= seconds + 60


def test_an_approval_under_a_policy_that_cannot_be_read_is_not_given(call: Calling) -> None:
    with Store() as store:
        policy = store.blobs.put_bytes(b'{"approval": "of a later version"}').sha256
    hold = _hold(artifact=CLEAN, evidence={"policy_blob": policy})
    assert "cannot be read by this version" in call("approvals", "approve", hold.id).err
    assert _state(hold) is State.PENDING


def test_a_mistyped_id_among_several_decides_nothing(call: Calling) -> None:
    hold = _hold(artifact=CLEAN)
    assert call("approvals", "approve", hold.id, "H-NOPE").status == 1
    assert _state(hold) is State.PENDING


def test_without_an_id_the_only_one_that_waits_is_shown(call: Calling) -> None:
    none = call("approvals", "show")
    assert (none.status, "nothing waits" in none.err) == (USAGE, True)
    first = _hold(digest="sha256:1", fingerprint="one")
    assert call("approvals", "show").out.startswith(first.id)
    assert f"approvals show {first.id} shows" in call("approvals", "list").out
    second = _hold(digest="sha256:2", fingerprint="two", action=push("https://git.test/x.git other"))
    several = call("approvals", "show")
    assert several.status == USAGE
    assert first.id in several.err
    assert second.id in several.err


def _ended(state: State) -> Hold:
    """A hold of a session whose folder is there, brought to a state as it gets there."""
    hold = _hold(running=this_process())
    with Store() as store:
        ledger = store.ledger
        if state is State.DENIED:
            ledger.deny(hold.id, "no", "me")
        elif state is State.SUPERSEDED:
            ledger.supersede(hold.id, held(store, fingerprint="later").id)
        elif state is not State.PENDING:
            ledger.approve(hold.id, "me", 60)
            if state is State.VOID:
                ledger.void(hold.id, "the remote moved: main is elsewhere")
            elif state is not State.APPROVED:
                ledger.consume(hold.id, None, hold.digest)
                ledger.finish(hold.id, state, {"summary": "so it was"})
        return ledger.get(hold.id)


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (State.PENDING, "sekisho approvals approve {id}"),
        (State.APPROVED, "sekisho approvals revoke {id}"),
        (State.VOID, "sekisho run --from {session} -- CMD"),
        (State.FAILED, "sekisho run --from {session} -- CMD"),
        (State.UNKNOWN, "sekisho approvals settle {id} done|failed"),
        (State.SUPERSEDED, "sekisho approvals show {later}"),
    ],
)
def test_a_hold_says_what_comes_next(call: Calling, state: State, says: str) -> None:
    hold = _ended(state)
    shown = call("approvals", "show", hold.id).out
    assert says.format(id=hold.id, session=hold.session, later=hold.superseded_by) in shown


@pytest.mark.parametrize("state", [State.DENIED, State.DONE])
def test_nothing_comes_after_what_is_done_or_denied(state: State, call: Calling) -> None:
    assert next_steps(_ended(state)) == []


def test_why_a_hold_is_void_is_shown(call: Calling) -> None:
    hold = _ended(State.VOID)
    assert "the remote moved: main is elsewhere" in call("approvals", "show", hold.id).out
    assert "void ones (1) are not sent any more" in call("approvals", "list", "--all").out


def test_taking_an_approval_back_says_what_that_means(call: Calling) -> None:
    assert "it is not sent; asked for again" in call("approvals", "revoke", _ended(State.APPROVED).id).out


def test_what_cannot_be_done_with_a_hold_names_what_can(call: Calling) -> None:
    hold = _hold()
    for words in (("settle", hold.id, "done"), ("revoke", hold.id)):
        assert f"next: sekisho approvals approve {hold.id}" in call("approvals", *words).err


@pytest.mark.parametrize("state", [State.VOID, State.FAILED])
def test_of_a_session_that_was_tidied_away_the_way_on_is_its_kept_work(call: Calling, state: State) -> None:
    hold = _ended(state)
    with Store() as store:
        store.sessions.remove(hold.session)
    shown = call("approvals", "show", hold.id).out
    assert f"in {hold.project} its work is taken with: sekisho sessions apply {hold.session}" in shown
    assert "--from" not in shown


def test_several_are_denied_for_one_reason_or_none(call: Calling) -> None:
    first = _hold(digest="sha256:1", fingerprint="one")
    second = _hold(digest="sha256:2", fingerprint="two")
    assert call("approvals", "deny", first.id, "H-NOPE", "--reason", "no").status == 1
    assert _state(first) is State.PENDING
    ended = call("approvals", "deny", first.id, second.id, "--reason", "not today")
    assert ended.out == f"{first.id} denied\n{second.id} denied\n"
    assert (_state(first), _state(second)) == (State.DENIED, State.DENIED)
    with Store() as store:
        assert store.ledger.get(second.id).reason == "not today"


def test_one_that_is_approved_keeps_all_from_being_denied(call: Calling) -> None:
    first = _hold(digest="sha256:1", fingerprint="one")
    second = _hold(digest="sha256:2", fingerprint="two")
    assert call("approvals", "approve", "--no-execute", second.id).status == 0
    assert f"revoke {second.id}" in call("approvals", "deny", first.id, second.id, "--reason", "no").err
    assert _state(first) is State.PENDING


def test_a_held_command_is_shown_as_it_would_be_typed_with_what_it_does(call: Calling) -> None:
    words = ("git", "reset", "--hard", "a branch")
    act = artifact.CommandAct(argv=words, cwd="/home/me/x", tool="/usr/bin/git")
    action = Action(
        verb="git.reset", target="--hard", effect=Effect.DESTRUCTIVE, reason="discards uncommitted changes"
    )
    evidence = {"changes": "\n".join(words)}
    shown = call(
        "approvals", "show", _hold(artifact=artifact.encode(act), action=action, evidence=evidence).id
    ).out
    assert "  | git reset --hard 'a branch'\n  | in /home/me/x\n" in shown
    assert "discards uncommitted changes" in shown
    assert "recovery\n  | nothing is known to undo it" in shown


def test_what_a_held_push_changes_is_shown_as_it_is(call: Calling) -> None:
    shown = call("approvals", "show", _hold(evidence={"changes": "refs/heads/x: new"}).id).out
    assert "changes\n  | refs/heads/x: new\n" in shown
    assert "recovery\n  | -\n" in shown
