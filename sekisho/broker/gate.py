"""Decides what the proxy asks: the `netpolicy.ports.Gatekeeper` of a process, for its sessions.

Reads are decided at once (`immediate`). Whatever would change something goes on to `holding` and
`pushing`, where it is recorded before it is answered. A store that cannot be relied on closes the
outside, not the reads.
"""

import asyncio
from collections.abc import Callable

import msgspec

from netpolicy.observe import NeedBody, observe
from netpolicy.ports import Attempt, Begin, Body, Collect, Pass, Refuse, Reply
from netpolicy.request import Request
from netpolicy.signed import signature
from sekisho.broker import carrying, given, holding, live, outcomes, push_replies, pushing, toolcalls
from sekisho.broker.bodies import beginning
from sekisho.broker.decided import NOT_DIALLED, not_dialled, told
from sekisho.broker.door import Door
from sekisho.broker.holding import Held
from sekisho.broker.immediate import CHANGING, Immediate
from sekisho.broker.replies import refusal_reply
from sekisho.broker.state import SessionState
from sekisho.broker.waiting import OVER, Wait, Waiting
from sekisho.core.action import Action
from sekisho.core.lifecycle import State
from sekisho.core.refusal import gate_broken
from sekisho.core.verdict import Decision, Verdict, judge
from sekisho.store.errors import StoreBroken
from sekisho.store.holds import Hold
from sekisho.store.records import draft

LARGEST_BODY = 2 << 30  # bytes of a request body that are collected at all
LOOKED_AT = 4 << 20  # bytes of a spooled body that deciders see; the digest covers all
READ_AT_ONCE = 512  # bytes of a body that are looked at without leaving the loop


class Gate:
    """The judgement of one gatekeeper process over its sessions."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._sessions: dict[str, SessionState] = {}
        self.waiting = Waiting(self._now)
        self._immediate = Immediate(door)

    def add(self, state: SessionState) -> None:
        """Begin to decide for a session."""
        self._sessions[state.id] = state

    # -- netpolicy.ports.Gatekeeper ----------------------------------------------------------------

    def preview(self, session: str, request: Request) -> Pass | Refuse | Collect:
        state = self._sessions[session]
        seen = observe(request, state.world)
        if isinstance(seen, NeedBody):
            return Collect(limit=LARGEST_BODY)
        decision = judge(seen, state.policy, state.context)
        return self._immediate.answer(state, request, decision) or Collect(limit=LARGEST_BODY)

    async def rule(
        self, session: str, request: Request, body: Body, connected: Callable[[], bool] = lambda: True
    ) -> Pass | Refuse | Begin:
        state = self._sessions[session]
        whole = msgspec.structs.replace(request, body=beginning(body, LOOKED_AT), body_size=body.size)
        seen = await self._seen(state, whole)
        if seen.verb == "git.push":
            held = await self._in_store(
                whole, lambda: pushing.hold_push(self._door.open(), state, whole, body)
            )
            if not state.config.wait or held.hold is None:
                return Refuse(reply=held.reply)
            wait = Wait(hold=held.hold, seconds=state.config.wait, connected=connected)
            return live.push(self.waiting, held, whole, body, wait)
        decision = judge(seen, state.policy, state.context)
        if (unfit := toolcalls.unfit(state.policy, state.schemas, whole.body or b"", decision)) is not None:
            return self._immediate.deny(state, whole, unfit)
        if decision.verdict is Verdict.ALLOW:
            await given.ask(state, whole, decision.action)
        if (answered := self._immediate.answer(state, whole, decision)) is not None:
            return answered
        if decision.verdict is Verdict.ALLOW and decision.action.effect not in CHANGING:
            return self._untold(whole)
        if decision.verdict is Verdict.ALLOW:
            return await self._allowed_write(state, whole, body, decision)
        if (signed := signature(whole)) is not None:
            return await self._signed(state, whole, body, decision, signed, connected)
        held = await self._in_store(
            whole, lambda: holding.hold_request(self._door.open(), state, whole, body, decision)
        )
        return Refuse(reply=await self._live(state, whole, held, connected))

    async def _seen(self, state: SessionState, whole: Request) -> Action:
        """What a whole request is. A body takes time to read: beside the loop it keeps nobody waiting."""
        if (whole.body_size or 0) <= READ_AT_ONCE:
            seen = observe(whole, state.world, final=True)
        else:
            seen = await asyncio.to_thread(observe, whole, state.world, final=True)
        assert isinstance(seen, Action)
        return seen

    def finished(self, session: str, request: Request, status: int | None, received: int) -> None:
        self._immediate.finished(self._sessions[session], request, status, received)

    def attempted(self, session: str, attempt: Attempt) -> None:
        where = f"{attempt.name or attempt.address}:{attempt.port}"
        if attempt.reason in NOT_DIALLED:  # it was asked for as it should be, and led nowhere
            self._door.record(session=session, kind="act.denied", **told(not_dialled(where, attempt.reason)))
            return
        data = msgspec.to_builtins(attempt)
        self._door.record(session=session, kind="attempt.direct", subject=where, data=data)

    # -- what is recorded before it is answered ----------------------------------------------------

    async def _allowed_write(
        self, state: SessionState, request: Request, body: Body, decision: Decision
    ) -> Pass | Refuse:
        """A write that policy calls harmless: on record before it leaves."""
        if (over := self._immediate.over(state, request, decision)) is not None:
            return over

        def note() -> None:
            data = {
                "action": decision.action,
                "body": body.sha256,
                "size": body.size,
                "rules": decision.rules,
            }
            subject = f"{decision.action.verb} {decision.action.target}"
            entry = draft(
                session=state.id, kind="act.allowed", subject=subject, data=msgspec.to_builtins(data)
            )
            self._door.open().journal.append(entry)

        try:
            await asyncio.to_thread(note)
        except StoreBroken as broken:
            self._door.refused(broken.reason)
            return Refuse(reply=_broken_reply(request, broken.reason))
        return self._immediate.passed(state, request, decision.action)

    def _untold(self, request: Request) -> Refuse:
        """A read that still waits for what it is to be given must not go on as a write would."""
        why = "what this read is given on its way could not be told"
        self._door.refused(why)
        return Refuse(reply=_broken_reply(request, why))

    async def _in_store(self, request: Request, act: Callable[[], Held]) -> Held:
        """Run `act` beside the loop. A broken store, or anything else that fails, is a refusal."""
        try:
            return await asyncio.to_thread(act)
        except StoreBroken as broken:
            self._door.refused(broken.reason)
            return Held(reply=_broken_reply(request, broken.reason))
        except Exception as error:
            self._door.refused(f"holding failed: {type(error).__name__}: {error}")
            return Held(reply=_broken_reply(request, f"{type(error).__name__} while it was being held"))

    async def _live(
        self, state: SessionState, request: Request, held: Held, connected: Callable[[], bool]
    ) -> Reply:
        """The answer at once; with `--wait` the real one, if a person decides while the client is there."""
        if not state.config.wait or held.hold is None:
            return held.reply
        wait = Wait(hold=held.hold, seconds=state.config.wait, connected=connected)
        decided = await self.waiting.until_decided(wait)
        if decided is None:
            return live.undecided_reply(held, request, wait)
        done = await self._in_store(
            request,
            lambda: Held(reply=outcomes.decided_reply(self._door.open(), request, decided)),
        )
        return done.reply

    async def _signed(
        self,
        state: SessionState,
        request: Request,
        body: Body,
        decision: Decision,
        signed: str,
        connected: Callable[[], bool],
    ) -> Pass | Refuse:
        """What only its own call can carry: waits for an approval, or is refused."""
        if not state.config.wait:
            return self._immediate.deny(state, request, carrying.refused(decision, signed))
        held = await self._in_store(
            request,
            lambda: holding.hold_live(self._door.open(), state, request, body, decision, signed),
        )
        if held.hold is None:
            return Refuse(reply=held.reply)
        wait = Wait(
            hold=held.hold,
            seconds=state.config.wait,
            connected=connected,
            states=(State.APPROVED, *OVER),
        )
        return await carrying.carry(self._door, self.waiting, request, held, wait)

    async def _now(self, hold: str) -> Hold | None:
        """How a hold stands; None where the store cannot say: then `deliver` will, once it can."""
        try:
            return await asyncio.to_thread(lambda: self._door.open().ledger.get(hold))
        except StoreBroken:
            return None


def _broken_reply(request: Request, reason: str) -> Reply:
    refusal = gate_broken(f"{request.method} {request.url}", reason)
    return (
        push_replies.broken_reply(request, refusal)
        if push_replies.is_push(request)
        else refusal_reply(refusal, request)
    )
