import json
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sekisho.core.lifecycle import IllegalTransition, State
from sekisho.core.token import verify
from sekisho.store import holdtable, keys
from sekisho.store.clock import Reading, not_before
from sekisho.store.errors import (
    AlreadyUsed,
    AmbiguousHold,
    Expired,
    LedgerError,
    NoSuchHold,
    NotApproved,
    NotPending,
    StoreBroken,
    TargetClosed,
    Void,
)
from sekisho.store.holds import Hold, normal_id
from sekisho.store.store import Store
from tests.unit.store.support import DAY, DIGEST, OTHER_DIGEST, Ticker, at_once, held, push


def kinds(store: Store) -> list[str]:
    return [record.kind for record in store.journal.query()]


def approved(store: Store, **changes: Any) -> Hold:
    hold = held(store, **changes)
    store.ledger.approve(hold.id, "me", 1800)
    return store.ledger.get(hold.id)


def executing(store: Store, **changes: Any) -> Hold:
    hold = approved(store, **changes)
    store.ledger.consume(hold.id, None, hold.digest)
    return store.ledger.get(hold.id)


def done(store: Store, **changes: Any) -> Hold:
    return store.ledger.finish(executing(store, **changes).id, State.DONE, {"status": 201})


def unknown(store: Store, **changes: Any) -> Hold:
    return store.ledger.finish(executing(store, **changes).id, State.UNKNOWN, {"why": "no answer"})


def denied(store: Store) -> Hold:
    return store.ledger.deny(held(store).id, "no", "me")


def revoked(store: Store) -> Hold:
    return store.ledger.revoke(approved(store).id, "me")


def superseded(store: Store) -> Hold:
    hold = held(store)
    return store.ledger.supersede(hold.id, held(store, digest=OTHER_DIGEST).id)


def failed(store: Store) -> Hold:
    return store.ledger.finish(executing(store).id, State.FAILED, {"status": 422})


def test_hold_comes_back_whole(store: Store, clock: Ticker) -> None:
    evidence = {"purpose": "naïve\n`$(x)` \udc80", "changes": ["a", 1, None]}
    hold = held(store, evidence=evidence, policy="sha256:p")
    assert store.ledger.get(hold.id) == hold
    assert hold.evidence == evidence
    assert hold.action == push()
    assert (hold.state, hold.count, hold.created) == (State.PENDING, 1, clock.wall)
    assert hold.expires == clock.wall + 14 * DAY
    (record,) = store.journal.query()
    assert (record.kind, record.subject, record.session) == ("hold.created", hold.id, hold.session)
    assert record.data["evidence"] == evidence
    assert record.data["policy"] == "sha256:p"


@pytest.mark.parametrize("start", [held, approved, executing], ids=["pending", "approved", "executing"])
def test_same_operation_is_the_same_hold(store: Store, start: Callable[[Store], Hold]) -> None:
    first = start(store)
    again = held(store, session="1129-bbbbb", evidence={"purpose": "told differently"})
    assert (again.id, again.count, again.state) == (first.id, 2, first.state)
    assert again.evidence == first.evidence
    assert len(store.ledger.list()) == 1
    assert store.journal.tail(1)[0].data["asked_by"] == "1129-bbbbb"


@pytest.mark.parametrize(
    "change",
    [{"digest": OTHER_DIGEST}, {"fingerprint": "git.push other"}, {"project": "/home/me/y"}],
    ids=["digest", "fingerprint", "project"],
)
def test_other_operation_is_another_hold(store: Store, change: dict[str, str]) -> None:
    assert held(store).id != held(store, **change).id


@pytest.mark.parametrize(
    "end", [denied, revoked, superseded, done, failed, unknown], ids=lambda end: end.__name__
)
def test_ended_hold_is_not_taken_up_again(store: Store, end: Callable[[Store], Hold]) -> None:
    ended = end(store)
    again = held(store)
    assert again.id != ended.id
    assert (again.count, again.state) == (1, State.PENDING)


def test_hold_whose_days_are_over_is_not_taken_up_again(store: Store, clock: Ticker) -> None:
    first = held(store, ttl=60)
    clock.passes(60)
    assert held(store).id != first.id
    assert store.ledger.get(first.id).state is State.EXPIRED


def test_racing_repeats_are_one_hold(tmp_path: Path) -> None:
    def ask(number: int) -> list[str]:
        with Store(tmp_path / "state") as store:
            return [held(store, session=f"s{number}").id for _ in range(20)]

    ids = {hold_id for found in at_once(4, ask) for hold_id in found}
    with Store(tmp_path / "state") as store:
        assert [(hold.id, hold.count) for hold in store.ledger.list()] == [(ids.pop(), 80)]
    assert not ids


def test_ids_are_found_by_their_beginning_in_any_case(store: Store) -> None:
    hold = held(store)
    for text in (hold.id, hold.id.lower(), hold.id[:4], hold.id[2:], f" {hold.id} "):
        assert store.ledger.get(text).id == hold.id


@pytest.mark.parametrize("text", ["", "H-", "H-0", "*", "H-?", "H-[A-Z]", "%", "H-AAAAAAA", "H-é", "\udc80"])
def test_what_is_no_id_finds_nothing(store: Store, text: str) -> None:
    held(store)
    with pytest.raises(NoSuchHold):
        store.ledger.get(text)


def test_ambiguous_beginning_names_what_fits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter(["H-AAAAAA", "H-AAAAAA", "H-AAAAAB", "H-ZZZZZZ"])
    monkeypatch.setattr(holdtable, "new_id", lambda: next(ids))
    for number in range(3):
        held(store, digest=f"sha256:{number}")
    with pytest.raises(AmbiguousHold) as caught:
        store.ledger.get("aaaa")
    assert caught.value.candidates == ("H-AAAAAA", "H-AAAAAB")
    assert store.ledger.get("z").id == "H-ZZZZZZ"


@pytest.mark.parametrize(("given", "wanted"), [("h-ab2", "H-AB2"), ("ab2", "H-AB2"), ("H-O", None)])
def test_id_is_normalised(given: str, wanted: str | None) -> None:
    assert normal_id(given) == wanted


def test_list_picks(store: Store) -> None:
    first = held(store)
    second = approved(store, session="other", project="/p", fingerprint="f")
    ledger = store.ledger
    assert [hold.id for hold in ledger.list()] == [first.id, second.id]
    assert [hold.id for hold in ledger.list(states=[State.APPROVED])] == [second.id]
    assert [hold.id for hold in ledger.list(states=[])] == []
    assert [hold.id for hold in ledger.list(session="other")] == [second.id]
    assert [hold.id for hold in ledger.list(project="/home/me/x")] == [first.id]
    assert [hold.id for hold in ledger.list(fingerprint="f")] == [second.id]


def test_approval_is_sealed_and_used_once(store: Store, clock: Ticker) -> None:
    hold = held(store)
    approval = store.ledger.approve(hold.id, "me", 1800)
    binding = approval.binding
    assert (binding.action, binding.target, binding.digest) == ("git.push", hold.target, DIGEST)
    assert binding.expires_at == int(clock.wall + 1800)
    assert verify(keys.load(store.folder / "approval.key"), binding, approval.token)
    assert store.ledger.consume(hold.id, clock.wall, DIGEST) == binding
    with pytest.raises(AlreadyUsed):
        store.ledger.consume(hold.id, clock.wall, DIGEST)
    finished = store.ledger.finish(hold.id, State.DONE, {"status": 201})
    assert (finished.state, finished.result) == (State.DONE, {"status": 201})
    with pytest.raises(AlreadyUsed):
        store.ledger.consume(hold.id, clock.wall, DIGEST)
    assert kinds(store) == ["hold.created", "hold.approved", "act.executing", "act.done"]
    assert store.journal.verify() == []


@pytest.mark.parametrize(
    ("start", "error"),
    [
        (held, NotApproved),
        (denied, NotApproved),
        (superseded, NotApproved),
        (revoked, Void),
        (executing, AlreadyUsed),
        (done, AlreadyUsed),
        (failed, AlreadyUsed),
        (unknown, AlreadyUsed),
    ],
    ids=lambda value: value.__name__,
)
def test_only_an_approved_hold_is_executed(
    store: Store, start: Callable[[Store], Hold], error: type[LedgerError]
) -> None:
    hold = start(store)
    before = kinds(store)
    with pytest.raises(error):
        store.ledger.consume(hold.id, None, hold.digest)
    assert store.ledger.get(hold.id) == hold
    assert kinds(store) == before


@pytest.mark.parametrize(
    "start",
    [approved, denied, superseded, revoked, executing, done, failed, unknown],
    ids=lambda s: s.__name__,
)
def test_only_a_pending_hold_is_decided(store: Store, start: Callable[[Store], Hold]) -> None:
    hold = start(store)
    with pytest.raises(NotPending):
        store.ledger.approve(hold.id, "me", 60)
    with pytest.raises(NotPending):
        store.ledger.deny(hold.id, "no", "me")
    with pytest.raises(NotPending):
        store.ledger.supersede(hold.id, held(store, digest="sha256:later").id)
    assert store.ledger.get(hold.id) == hold


def test_changed_content_voids_the_approval(store: Store) -> None:
    hold = approved(store)
    with pytest.raises(Void, match="not the one that was approved"):
        store.ledger.consume(hold.id, None, OTHER_DIGEST)
    with pytest.raises(Void):
        store.ledger.consume(hold.id, None, DIGEST)
    assert store.ledger.get(hold.id).state is State.VOID
    assert kinds(store)[-1] == "hold.voided"


def tamper(store: Store, hold: Hold, change: Callable[[dict[str, Any]], None]) -> None:
    conn = sqlite3.connect(store.db.path)
    (text,) = conn.execute("SELECT approval FROM holds WHERE id = ?", (hold.id,)).fetchone()
    approval = json.loads(text)
    change(approval)
    conn.execute("UPDATE holds SET approval = ? WHERE id = ?", (json.dumps(approval), hold.id))
    conn.commit()
    conn.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda approval: approval["binding"].update(expires_at=9_999_999_999),
        lambda approval: approval["binding"].update(approver="someone else"),
        lambda approval: approval["binding"].update(digest=OTHER_DIGEST),
        lambda approval: approval["binding"].update(nonce="H-AAAAAA.1"),
        lambda approval: approval.update(token="v1." + "0" * 64),
        lambda approval: approval.update(token=""),
    ],
    ids=["expiry", "approver", "digest", "nonce", "token", "no token"],
)
def test_forged_approval_is_void(store: Store, change: Callable[[dict[str, Any]], None]) -> None:
    hold = approved(store)
    tamper(store, hold, change)
    with pytest.raises(Void, match="seal"):
        store.ledger.consume(hold.id, None, DIGEST)
    assert store.ledger.get(hold.id).state is State.VOID


@pytest.mark.parametrize("column", ["digest", "id"])
def test_approval_of_another_hold_is_void(store: Store, column: str) -> None:
    good = approved(store)
    changes = {"digest": OTHER_DIGEST} if column == "digest" else {"project": "/p"}
    hold = approved(store, **changes)
    conn = sqlite3.connect(store.db.path)
    conn.execute(
        "UPDATE holds SET approval = (SELECT approval FROM holds WHERE id = ?) WHERE id = ?",
        (good.id, hold.id),
    )
    conn.commit()
    conn.close()
    with pytest.raises(Void, match="something else"):
        store.ledger.consume(hold.id, None, hold.digest)


def test_approved_state_without_approval_is_void(store: Store) -> None:
    hold = held(store)
    conn = sqlite3.connect(store.db.path)
    conn.execute("UPDATE holds SET state = 'approved'")
    conn.commit()
    conn.close()
    with pytest.raises(Void, match="missing"):
        store.ledger.consume(hold.id, None, DIGEST)


@pytest.mark.parametrize(("passed", "good"), [(1799, True), (1800, False), (1801, False)])
def test_approval_has_an_end(store: Store, clock: Ticker, passed: float, good: bool) -> None:
    hold = approved(store)
    clock.passes(passed)
    if good:
        store.ledger.consume(hold.id, None, DIGEST)
        return
    for _ in range(2):
        with pytest.raises(Expired):
            store.ledger.consume(hold.id, None, DIGEST)
    assert store.ledger.get(hold.id).state is State.PENDING
    assert kinds(store)[-1] == "hold.lapsed"


def test_an_approval_that_ended_leaves_its_hold_to_another_yes(store: Store, clock: Ticker) -> None:
    hold = approved(store)
    first = hold.approval
    clock.passes(1800)
    lapsed = store.ledger.current(hold.id)
    assert (lapsed.state, lapsed.approval, lapsed.decided_by) == (State.PENDING, None, None)
    assert lapsed.reason == "the approval by me ended unused"
    assert first is not None
    again = store.ledger.approve(hold.id, "kim", 60)
    assert again.binding.nonce != first.binding.nonce
    assert store.ledger.get(hold.id).reason is None
    store.ledger.consume(hold.id, None, DIGEST)


def test_a_yes_after_an_approval_that_ended_needs_no_look_at_the_clock(store: Store, clock: Ticker) -> None:
    hold = approved(store)
    clock.passes(1801)
    store.ledger.approve(hold.id, "kim", 60)
    assert store.ledger.get(hold.id).decided_by == "kim"


def test_what_waits_again_can_be_denied(store: Store, clock: Ticker) -> None:
    hold = approved(store)
    clock.passes(1801)
    assert store.ledger.deny(hold.id, "no", "kim").state is State.DENIED


def test_what_waits_again_is_the_same_hold_when_asked_for_again(store: Store, clock: Ticker) -> None:
    first = approved(store)
    clock.passes(1801)
    again = held(store)
    assert (again.id, again.count, again.state) == (first.id, 2, State.PENDING)


def test_an_approval_that_ends_with_its_hold_has_expired(store: Store, clock: Ticker) -> None:
    hold = held(store, ttl=600)
    store.ledger.approve(hold.id, "me", 1800)
    clock.passes(1800)
    assert store.ledger.current(hold.id).state is State.EXPIRED
    with pytest.raises(Expired):
        store.ledger.approve(hold.id, "me", 60)


def test_what_could_not_be_begun_stays_approved_until_its_approval_ends(store: Store, clock: Ticker) -> None:
    hold = approved(store)
    back = store.ledger.not_begun(hold.id, "connection refused")
    assert (back.state, back.reason, back.executor) == (State.APPROVED, "not sent: connection refused", None)
    assert kinds(store)[-1] == "act.unsent"
    clock.passes(1800)
    with pytest.raises(Expired):
        store.ledger.consume(hold.id, None, DIGEST)
    waiting = store.ledger.get(hold.id)
    assert waiting.state is State.PENDING
    assert waiting.reason == "the approval by me ended unused; not sent: connection refused"


@pytest.mark.parametrize("start", [held, executing, done, unknown, revoked])
def test_only_what_is_approved_can_be_called_not_begun(store: Store, start: Callable[[Store], Hold]) -> None:
    hold = start(store)
    with pytest.raises(LedgerError):
        store.ledger.not_begun(hold.id, "x")
    assert store.ledger.get(hold.id) == hold


def test_an_alike_one_that_is_not_the_same_is_taken_up_only_once_it_is_approved(store: Store) -> None:
    first = held(store)
    other = held(store, same=lambda hold: False)
    assert other.id != first.id
    store.ledger.approve(first.id, "me", 60)
    assert held(store, same=lambda hold: False).id == first.id


@pytest.mark.parametrize("expires_in", [0, -1, float("nan"), float("inf")])
def test_approval_without_an_end_is_refused(store: Store, expires_in: float) -> None:
    hold = held(store)
    with pytest.raises(ValueError, match="end"):
        store.ledger.approve(hold.id, "me", expires_in)
    assert store.ledger.get(hold.id).state is State.PENDING


def test_hold_that_waited_too_long_cannot_be_approved(store: Store, clock: Ticker) -> None:
    hold = held(store, ttl=60)
    clock.passes(61)
    with pytest.raises(Expired):
        store.ledger.approve(hold.id, "me", 60)
    assert store.ledger.get(hold.id).state is State.EXPIRED


def test_clock_set_back_does_not_extend_an_approval(store: Store, clock: Ticker) -> None:
    hold = approved(store)
    clock.passes(1700)
    clock.wall -= DAY
    clock.passes(101)
    with pytest.raises(Expired):
        store.ledger.consume(hold.id, clock.wall, DIGEST)


def test_clock_set_back_over_a_reboot_does_not_revive_an_approval(store: Store, clock: Ticker) -> None:
    hold = approved(store)
    clock.passes(1801)
    held(store, digest=OTHER_DIGEST)
    clock.wall, clock.boot, clock.boot_id = clock.wall - DAY, 5.0, "second"
    with pytest.raises(Expired):
        store.ledger.consume(hold.id, None, DIGEST)


def test_time_given_by_the_caller_does_not_revive_an_approval(store: Store, clock: Ticker) -> None:
    hold = approved(store)
    clock.passes(1801)
    with pytest.raises(Expired):
        store.ledger.consume(hold.id, clock.wall - DAY, DIGEST)


@pytest.mark.parametrize(
    ("mark", "now", "wall"),
    [
        (None, (100, 1, "a"), 100),
        ((100, 1, "a"), (200, 2, "a"), 200),
        ((100, 1, "a"), (50, 11, "a"), 110),
        ((100, 1, "a"), (50, 1, "b"), 100),
        ((100, 9, "a"), (50, 1, "a"), 100),
    ],
    ids=["first", "forward", "set back", "set back over a reboot", "odd boot clock"],
)
def test_time_never_runs_backwards(
    mark: tuple[float, float, str] | None, now: tuple[float, float, str], wall: float
) -> None:
    def reading(values: tuple[float, float, str]) -> Reading:
        return Reading(wall=values[0], boot=values[1], boot_id=values[2])

    assert not_before(mark and reading(mark), reading(now)).wall == wall


def test_expire_due_ends_holds_and_approvals(store: Store, clock: Ticker) -> None:
    waiting = held(store, ttl=3600)
    yes = approved(store, digest=OTHER_DIGEST)
    stays = held(store, digest="sha256:stays")
    clock.passes(1800)
    assert [hold.id for hold in store.ledger.expire_due()] == [yes.id]
    clock.passes(1800)
    assert [hold.id for hold in store.ledger.expire_due()] == [waiting.id]
    assert store.ledger.expire_due() == ()
    assert store.ledger.get(stays.id).state is State.PENDING


def test_of_racing_executors_exactly_one_wins(tmp_path: Path) -> None:
    with Store(tmp_path / "state") as store:
        ids = [approved(store, digest=f"sha256:{number}").id for number in range(25)]

    def execute(number: int) -> list[bool]:
        won = []
        with Store(tmp_path / "state") as store:
            for index, hold_id in enumerate(ids):
                try:
                    store.ledger.consume(hold_id, None, f"sha256:{index}")
                    won.append(True)
                except AlreadyUsed:
                    won.append(False)
        return won

    for winners in zip(*at_once(4, execute), strict=True):
        assert sum(winners) == 1
    with Store(tmp_path / "state") as store:
        assert len(store.journal.query(kind="act.executing")) == len(ids)
        assert store.journal.verify() == []


def test_of_racing_approvers_exactly_one_wins(tmp_path: Path) -> None:
    with Store(tmp_path / "state") as store:
        hold = held(store)

    def approve(number: int) -> bool:
        with Store(tmp_path / "state") as store:
            try:
                store.ledger.approve(hold.id, f"person {number}", 60)
            except NotPending:
                return False
            return True

    won = at_once(5, approve)
    assert sum(won) == 1
    with Store(tmp_path / "state") as store:
        assert store.ledger.get(hold.id).decided_by == f"person {won.index(True)}"


def test_killed_executor_leaves_unknown_and_a_closed_target(tmp_path: Path) -> None:
    with Store(tmp_path / "state") as store:
        hold = approved(store)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with Store(tmp_path / "state") as store:
            store.ledger.consume(hold.id, None, DIGEST)
            os.write(writing, b".")
            signal.pause()
    os.read(reading, 1)
    os.close(reading)
    os.close(writing)
    with Store(tmp_path / "state") as store:
        assert store.ledger.crashed() == ()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert [(found.id, found.state) for found in store.ledger.crashed()] == [(hold.id, State.UNKNOWN)]
        assert store.ledger.crashed() == ()
        with pytest.raises(AlreadyUsed):
            store.ledger.consume(hold.id, None, DIGEST)


def test_closed_target_stays_closed_until_it_is_settled(store: Store) -> None:
    lost = executing(store)
    yes = approved(store, digest=OTHER_DIGEST)
    elsewhere = approved(store, action=push("another target"), fingerprint="another")
    store.ledger.finish(lost.id, State.UNKNOWN, {})
    waiting = held(store, digest="sha256:third")
    with pytest.raises(TargetClosed, match=lost.id):
        store.ledger.approve(waiting.id, "me", 60)
    with pytest.raises(TargetClosed):
        store.ledger.consume(yes.id, None, OTHER_DIGEST)
    store.ledger.consume(elsewhere.id, None, DIGEST)
    settled = store.ledger.settle(lost.id, State.DONE, "me")
    assert settled.state is State.DONE
    store.ledger.consume(yes.id, None, OTHER_DIGEST)
    assert store.ledger.stored_response(lost.session, lost.fingerprint, lost.digest) is None


def test_response_answers_one_repeat(store: Store) -> None:
    hold = done(store)
    arguments = (hold.session, hold.fingerprint, hold.digest)
    assert store.ledger.stored_response("another", *arguments[1:]) is None
    assert store.ledger.stored_response(*arguments[:2], OTHER_DIGEST) is None
    found = store.ledger.stored_response(*arguments)
    assert found is not None
    assert (found.id, found.result) == (hold.id, {"status": 201})
    assert store.ledger.stored_response(*arguments) is None
    assert kinds(store)[-1] == "act.replayed"


@pytest.mark.parametrize("state", [State.PENDING, State.APPROVED, State.VOID])
def test_execution_ends_only_as_done_failed_or_unknown(store: Store, state: State) -> None:
    hold = executing(store)
    with pytest.raises(ValueError, match="does not end"):
        store.ledger.finish(hold.id, state, {})


@pytest.mark.parametrize("start", [held, approved, done, unknown], ids=lambda s: s.__name__)
def test_only_an_execution_is_finished(store: Store, start: Callable[[Store], Hold]) -> None:
    hold = start(store)
    with pytest.raises(IllegalTransition):
        store.ledger.finish(hold.id, State.DONE, {})
    assert store.ledger.get(hold.id) == hold


@pytest.mark.parametrize("start", [held, approved, done, executing], ids=lambda s: s.__name__)
def test_only_an_unknown_execution_is_settled(store: Store, start: Callable[[Store], Hold]) -> None:
    hold = start(store)
    with pytest.raises(IllegalTransition):
        store.ledger.settle(hold.id, State.FAILED, "me")


@pytest.mark.parametrize(
    ("start", "error"), [(held, NotApproved), (executing, AlreadyUsed), (done, AlreadyUsed), (revoked, Void)]
)
def test_only_an_approval_is_taken_back(
    store: Store, start: Callable[[Store], Hold], error: type[LedgerError]
) -> None:
    hold = start(store)
    with pytest.raises(error):
        store.ledger.revoke(hold.id, "me")
    with pytest.raises(error):
        store.ledger.void(hold.id, "moved")


def test_void_says_why(store: Store) -> None:
    hold = store.ledger.void(approved(store).id, "the pull request has moved")
    assert hold.reason == "the pull request has moved"
    with pytest.raises(Void, match="has moved"):
        store.ledger.consume(hold.id, None, DIGEST)


def test_watch_gives_what_changed_since(store: Store, tmp_path: Path, clock: Ticker) -> None:
    assert store.ledger.revision() == 0
    first, second = held(store), held(store, digest=OTHER_DIGEST)
    seen = store.ledger.revision()
    assert [hold.id for hold in store.ledger.watch(0)] == [first.id, second.id]
    assert store.ledger.watch(seen) == ()
    with Store(tmp_path / "state", clock=clock) as other:
        other.ledger.approve(second.id, "me", 60)
        other.ledger.deny(first.id, "no", "me")
    changed = store.ledger.watch(seen)
    assert [(hold.id, hold.state) for hold in changed] == [
        (second.id, State.APPROVED),
        (first.id, State.DENIED),
    ]
    assert store.ledger.watch(changed[-1].revision) == ()


def test_change_and_record_are_committed_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hold = approved(store)
    head = store.folder / "journal.head"
    content = head.read_bytes()
    head.write_bytes(b"")
    with pytest.raises(StoreBroken):
        store.ledger.consume(hold.id, None, DIGEST)
    head.write_bytes(content)
    assert store.ledger.get(hold.id).state is State.APPROVED
    assert kinds(store)[-1] == "hold.approved"


@pytest.mark.parametrize("column", ["action", "artifact", "approval"])
def test_damaged_hold_is_a_broken_store(store: Store, column: str) -> None:
    hold = held(store)
    conn = sqlite3.connect(store.db.path)
    conn.execute(f"UPDATE holds SET {column} = '[1'")
    conn.commit()
    conn.close()
    with pytest.raises(StoreBroken, match="cannot be read"):
        store.ledger.get(hold.id)


def test_words_of_another_alphabet_are_kept_and_lone_surrogates_spelled(store: Store) -> None:
    hold = held(store, action=push("https://git.test/é/日本 \udcff main"), fingerprint="f\udcff")
    assert hold.target == "https://git.test/é/日本 \\udcff main"
    again = held(store, action=push("https://git.test/é/日本 \udcff main"), fingerprint="f\udcff")
    assert again.count == 2
    store.ledger.approve(hold.id, "Zoë \udcff", 60)
    store.ledger.consume(hold.id, None, DIGEST)
