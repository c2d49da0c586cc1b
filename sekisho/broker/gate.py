"""Decides what the proxy asks: the `netpolicy.ports.Gatekeeper` of a process, for its sessions.

Reads are decided here and at once. Whatever would change something goes on to `holding` and
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
from sekisho.broker.decided import told
from sekisho.broker.door import Door
from sekisho.broker.holding import Held
from sekisho.broker.rates import Meter
from sekisho.broker.replies import refusal_reply
from sekisho.broker.state import SessionState, is_own
from sekisho.broker.waiting import OVER, Wait, Waiting
from sekisho.core.action import Action, Effect
from sekisho.core.lifecycle import State
from sekisho.core.refusal import Refusal, gate_broken, of_decision, standard
from sekisho.core.verdict import TELEMETRY, Decision, Verdict, judge
from sekisho.sending import credentials
from sekisho.store.errors import StoreBroken
from sekisho.store.holds import Hold
from sekisho.store.records import draft

LARGEST_BODY = 2 << 30  # bytes of a request body that are collected at all
LOOKED_AT = 4 << 20  # bytes of a spooled body that deciders see; the digest covers all
READ_AT_ONCE = 512  # bytes of a body that are looked at without leaving the loop
QUIETLY = Reply(status=204, reason="No Content")  # telemetry: its sender is content and does not retry
CHANGING = (Effect.EXTERNAL, Effect.UNKNOWN)


class Gate:
    """The judgement of one gatekeeper process over its sessions."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._sessions: dict[str, SessionState] = {}
        self.waiting = Waiting(self._now)
        self._meter = Meter()
        self._repeats: dict[tuple[str, str, str], int] = {}

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
        return self._at_once(state, request, decision) or Collect(limit=LARGEST_BODY)

    async def rule(
        self, session: str, request: Request, body: Body, connected: Callable[[], bool] = lambda: True
    ) -> Pass | Refuse | Begin:
        state = self._sessions[session]
        whole = msgspec.structs.replace(request, body=_looked_at(body), body_size=body.size)
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
            return self._deny(state, whole, unfit)
        if decision.verdict is Verdict.ALLOW:
            await given.ask(state, whole, decision.action)
        if (answered := self._at_once(state, whole, decision)) is not None:
            return answered
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
        writer = self._door.writer
        if writer is not None:
            writer.read(
                session=session,
                host=request.host,
                verb=request.method.upper(),
                subject=request.url,
                sent=request.body_size or 0,
                received=received,
                sample=self._sessions[session].policy.audit.read_sample,
                data={"status": status},
            )

    def attempted(self, session: str, attempt: Attempt) -> None:
        where = f"{attempt.name or attempt.address}:{attempt.port}"
        self._record(session, "attempt.direct", where, msgspec.to_builtins(attempt))

    # -- answers -----------------------------------------------------------------------------------

    def _at_once(self, state: SessionState, request: Request, decision: Decision) -> Pass | Refuse | None:
        """The answer to what is denied, or free; None for what has to be recorded in full first."""
        action = decision.action
        if decision.code == TELEMETRY:
            self.finished(state.id, request, None, 0)
            return Refuse(reply=QUIETLY)
        if decision.verdict is Verdict.DENY:
            return self._deny(state, request, decision)
        if (
            decision.verdict is Verdict.HOLD
            or action.effect in CHANGING
            or given.must_ask(state, request, action)
        ):
            return None
        if action.verb == "git.push-probe":
            return Refuse(reply=push_replies.PROBE_ANSWER)
        if action.effect is Effect.LOCAL:
            return Refuse(reply=refusal_reply(_loopback(request), request))
        if (over := self._over(state, request, decision)) is not None:
            return over
        if action.verb == "git.advertise":
            return Pass(
                headers=given.login(state, request, action),
                path=request.path.replace("git-receive-pack", "git-upload-pack"),
                advertise=True,
            )
        return self._pass(state, request, action)

    def _over(self, state: SessionState, request: Request, decision: Decision) -> Refuse | None:
        """The refusal of what is past a rate or a budget; None where it was counted and may pass."""
        own = decision.action.verb in given.FETCHES and is_own(state, decision.action.target)
        past = self._meter.refused(state.id, state.world, request, decision, own=own)
        return None if past is None else self._deny(state, request, past)

    def _pass(self, state: SessionState, request: Request, action: Action) -> Pass | Refuse:
        try:
            return Pass(headers=given.headers(state, request, action))
        except credentials.CredentialError as error:
            self._door.refused(str(error))
            refusal = gate_broken(f"{request.method} {request.url}", str(error))
            return Refuse(reply=refusal_reply(refusal, request))

    def _deny(self, state: SessionState, request: Request, decision: Decision) -> Refuse:
        action = decision.action
        key = (state.id, action.verb, action.target)
        count = self._repeats[key] = self._repeats.get(key, 0) + 1
        self._record(state.id, "act.denied", **told(decision))
        return Refuse(reply=refusal_reply(of_decision(decision, count=count), request))

    async def _allowed_write(
        self, state: SessionState, request: Request, body: Body, decision: Decision
    ) -> Pass | Refuse:
        """A write that policy calls harmless: on record before it leaves."""
        if (over := self._over(state, request, decision)) is not None:
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
        return self._pass(state, request, decision.action)

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
            return self._deny(state, request, carrying.refused(decision, signed))
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

    def _record(self, session: str, kind: str, subject: str, data: dict[str, object]) -> None:
        writer = self._door.writer
        if writer is not None:
            writer.record(session=session, kind=kind, subject=subject, data=data)


def _looked_at(body: Body) -> bytes | None:
    if body.data is not None or body.path is None:
        return body.data
    with body.path.open("rb") as file:
        return file.read(LOOKED_AT)


def _loopback(request: Request) -> Refusal:
    return standard("loopback-inside", f"{request.method} {request.url}")


def _broken_reply(request: Request, reason: str) -> Reply:
    refusal = gate_broken(f"{request.method} {request.url}", reason)
    return (
        push_replies.broken_reply(request, refusal)
        if push_replies.is_push(request)
        else refusal_reply(refusal, request)
    )
