"""What is counted before a free request passes: rules' rates, and what reads send to unlisted hosts.

Counts live in the gatekeeper's memory, one set a session. What is refused counts for nothing, so that a
client that keeps trying gets through again when its interval is over.
"""

from collections import deque
from collections.abc import Callable, Iterable
from functools import lru_cache
from time import monotonic

import msgspec

from netpolicy import headers
from netpolicy.known import is_known
from netpolicy.request import Request
from netpolicy.world import World
from sekisho.core.action import Action, Effect
from sekisho.core.gate import Gate
from sekisho.core.opinion import RateLimit
from sekisho.core.policy import Policy
from sekisho.core.texts import TEXTS
from sekisho.core.units import render_rate
from sekisho.core.verdict import Decision, Verdict

REMEMBERED = 4096  # distinct texts of a session and host that count only once
_NO_NEWS = frozenset({"host", "content-length", "date", "accept-encoding", "connection", "x-request-id"})


class Windows:
    """Sliding windows: at most so many acts within so many seconds, by session and rule."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._times: dict[tuple[str, str], deque[float]] = {}

    def take(
        self, session: str, limits: Iterable[RateLimit], times: int = 1
    ) -> tuple[RateLimit, float] | None:
        """Count an act; or say which limit it is past, and after how many seconds there is room again."""
        now = self._now()
        due = [(limit, self._window(session, limit, now)) for limit in limits]
        for limit, window in due:
            if len(window) + times > limit.rate.count:
                freed = len(window) + times - limit.rate.count
                oldest = window[min(freed, len(window)) - 1] if window else now
                return limit, max(0.0, oldest + limit.rate.seconds - now)
        for _, window in due:
            window.extend([now] * times)
        return None

    def _window(self, session: str, limit: RateLimit, now: float) -> deque[float]:
        window = self._times.setdefault((session, limit.key), deque())
        while window and window[0] <= now - limit.rate.seconds:
            window.popleft()
        return window


class Budgets:
    """Bytes that reads have sent to hosts that are not listed, by session and domain.

    Only what a host has not been sent before in the session counts: the same headers with every request
    tell it nothing new. Hosts of one domain share a budget, or a wildcard name would have one a label.
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str], int] = {}
        self._known: dict[tuple[str, str], set[int]] = {}

    def spend(self, session: str, request: Request, budget: int) -> int | None:
        """Count what a read sends; the bytes it would be beyond `budget` with earlier ones, or None."""
        key = (session, domain(request.host))
        known = self._known.setdefault(key, set())
        news = [text for text in _texts(request) if hash(text) not in known]
        spent = self._spent.get(key, 0) + (request.body_size or 0) + sum(map(len, news))
        if spent > budget:
            return spent - budget
        self._spent[key] = spent
        if len(known) < REMEMBERED:
            known.update(map(hash, news))
        return None


def _texts(request: Request) -> list[str]:
    return [request.host, request.path, *_values(headers.of(request.headers))]


@lru_cache(maxsize=headers.REMEMBERED)
def _values(given: headers.Headers) -> tuple[str, ...]:
    return tuple(value for name, value in given.pairs if name.lower() not in _NO_NEWS)


@lru_cache(maxsize=4096)
def domain(host: str) -> str:
    """The last two labels of a name, three below a short second level (`co.uk`); an address as it is."""
    labels = host.lower().rstrip(".").split(".")
    if ":" in host or labels[-1].isdigit():
        return host
    below_short = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3:] if below_short else labels[-2:])


class Meter:
    """What one gatekeeper counts."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._windows = Windows(now)
        self._budgets = Budgets()

    def refused(
        self, session: str, world: World, request: Request, decision: Decision, *, own: bool = False
    ) -> Decision | None:
        """Count an act that is about to pass; what is past a limit comes back denied.

        `own`: the request goes to a remote of the person's repository, which has no budget.
        """
        action = decision.action
        limits = (*decision.rates, *_model_rates(world.policy, action))
        past = self._windows.take(session, limits) if limits else None
        if past is not None:
            limit, wait = past
            often = render_rate(limit.rate.count, limit.rate.seconds)
            return denied(
                decision, "rate-exceeded", f"more than {often} by {limit.key}; room in {wait:.0f} s"
            )
        if action.effect is not Effect.READ or own or is_known(world, request):
            return None
        budget = world.policy.network.budget
        over = self._budgets.spend(session, request, budget)
        if over is None:
            return None
        where = domain(request.host)
        return denied(
            decision, "budget-exceeded", f"reads may send {budget} bytes to {where}; {over} more came"
        )


def denied(decision: Decision, code: str, reason: str) -> Decision:
    """The decision made stricter: refused for `code`, with that code's way on."""
    instead = TEXTS[code].instead
    return msgspec.structs.replace(
        decision, verdict=Verdict.DENY, gate=Gate.NEVER, code=code, reason=reason, instead=instead
    )


def _model_rates(policy: Policy, action: Action) -> tuple[RateLimit, ...]:
    if action.effect is not Effect.MODEL:
        return ()
    return tuple(
        RateLimit(key=f"{entry.source} model {entry.provider}", rate=entry.rate)
        for entry in policy.network.model
        if entry.rate is not None and action.detail.get("provider") in (None, entry.provider)
    )
