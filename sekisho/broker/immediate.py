"""What is answered at once, without the store: what is denied, and what is free and counted."""

from collections import OrderedDict

from netpolicy.ports import Pass, Refuse, Reply
from netpolicy.request import Request
from sekisho.broker import given, push_replies
from sekisho.broker.decided import told
from sekisho.broker.door import Door
from sekisho.broker.rates import Meter
from sekisho.broker.replies import refusal_reply
from sekisho.broker.state import SessionState, is_own
from sekisho.core.action import Action, Effect
from sekisho.core.refusal import gate_broken, of_decision, standard
from sekisho.core.verdict import TELEMETRY, Decision, Verdict
from sekisho.sending import credentials

QUIETLY = Reply(status=204, reason="No Content")  # telemetry: its sender is content and does not retry
CHANGING = (Effect.EXTERNAL, Effect.UNKNOWN)
REMEMBERED = 4096  # denied acts whose repeats are counted: an agent may think up any number of them


class Repeats:
    """Counts how often the same act was denied; the one that was longest ago is forgotten."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    def again(self, session: str, action: Action) -> int:
        """Count one more, and say how many there were."""
        key = (session, action.verb, action.target)
        self._counts[key] = count = self._counts.pop(key, 0) + 1
        if len(self._counts) > REMEMBERED:
            self._counts.popitem(last=False)
        return count


class Immediate:
    """Answers of one gatekeeper process that wait for nothing."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._meter = Meter()
        self._repeats = Repeats()

    def answer(self, state: SessionState, request: Request, decision: Decision) -> Pass | Refuse | None:
        """The answer to what is denied, or free; None for what has to be recorded in full first."""
        action = decision.action
        if decision.code == TELEMETRY:
            self.finished(state, request, None, 0)
            return Refuse(reply=QUIETLY)
        if decision.verdict is Verdict.DENY:
            return self.deny(state, request, decision)
        if (
            decision.verdict is Verdict.HOLD
            or action.effect in CHANGING
            or given.must_ask(state, request, action)
        ):
            return None
        if action.verb == "git.push-probe":
            return Refuse(reply=push_replies.PROBE_ANSWER)
        if action.effect is Effect.LOCAL:
            inside = standard("loopback-inside", f"{request.method} {request.url}")
            return Refuse(reply=refusal_reply(inside, request))
        return self.over(state, request, decision) or self._read(state, request, action)

    def over(self, state: SessionState, request: Request, decision: Decision) -> Refuse | None:
        """The refusal of what is past a rate or a budget; None where it was counted and may pass."""
        own = decision.action.verb in given.FETCHES and is_own(state, decision.action.target)
        past = self._meter.refused(state.id, state.world, request, decision, own=own)
        return None if past is None else self.deny(state, request, past)

    def _read(self, state: SessionState, request: Request, action: Action) -> Pass | Refuse:
        if action.verb != "git.advertise":
            return self.passed(state, request, action)
        return Pass(
            headers=given.login(state, request, action),
            path=request.path.replace("git-receive-pack", "git-upload-pack"),
            advertise=True,
        )

    def passed(self, state: SessionState, request: Request, action: Action) -> Pass | Refuse:
        """What may go on, with what it is given on its way."""
        try:
            return Pass(headers=given.headers(state, request, action))
        except credentials.CredentialError as error:
            self._door.refused(str(error))
            refusal = gate_broken(f"{request.method} {request.url}", str(error))
            return Refuse(reply=refusal_reply(refusal, request))

    def deny(self, state: SessionState, request: Request, decision: Decision) -> Refuse:
        """A refusal that is on record; it counts how often the same was asked for."""
        count = self._repeats.again(state.id, decision.action)
        self._door.record(session=state.id, kind="act.denied", **told(decision))
        return Refuse(reply=refusal_reply(of_decision(decision, count=count), request))

    def finished(self, state: SessionState, request: Request, status: int | None, received: int) -> None:
        """Count a request that was answered without having been held."""
        writer = self._door.writer
        if writer is not None:
            writer.read(
                session=state.id,
                host=request.host,
                verb=request.method.upper(),
                subject=request.url,
                sent=request.body_size or 0,
                received=received,
                sample=state.policy.audit.read_sample,
                data={"status": status},
            )
