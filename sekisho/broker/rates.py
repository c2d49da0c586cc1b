"""What is counted before a free request passes: rules' rates, and what reads send to unlisted hosts.

Counts live in the gatekeeper's memory, one set a session. What is refused counts for nothing, so that a
client that keeps trying gets through again when its interval is over.
"""

import re
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
ALL_DOMAINS = 16  # budgets that all domains have together
# Values of these differ from request to request, or tell what the connection or the body tells anyhow.
_NO_NEWS = {
    "host": re.compile(r".*"),  # counted as the host
    "content-length": re.compile(r"\d{1,10}"),
    "accept-encoding": re.compile(r"(gzip|identity)"),
    "connection": re.compile(r"(keep-alive|close)", re.IGNORECASE),
}


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
    tell it nothing new. A header is known by its name, its value and its place, so an order of known ones is
    news. Hosts of one domain share a budget, or a wildcard name would have one a label; and all of them have
    `ALL_DOMAINS` budgets together, for what a domain is cannot be told without a list of them.
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str], int] = {}
        self._known: dict[tuple[str, str], set[int]] = {}

    def spend(self, session: str, request: Request, budget: int) -> int | None:
        """Count what a read sends; the bytes it would be beyond `budget` with earlier ones, or None."""
        key, everywhere = (session, domain(request.host)), (session, "")
        known = self._known.setdefault(key, set())
        news = [text for text in _texts(request) if hash(text) not in known]
        size = (request.body_size or 0) + sum(map(len, news))
        spent, total = self._spent.get(key, 0) + size, self._spent.get(everywhere, 0) + size
        over = max(spent - budget, total - ALL_DOMAINS * budget)
        if over > 0:
            return over
        self._spent[key], self._spent[everywhere] = spent, total
        if len(known) < REMEMBERED:
            known.update(map(hash, news))
        return None


def _texts(request: Request) -> list[str]:
    return [request.host, request.path, *_lines(headers.of(request.headers))]


@lru_cache(maxsize=headers.REMEMBERED)
def _lines(given: headers.Headers) -> tuple[str, ...]:
    """Each header with its place; without those of a client's own whose value is as it has to be."""
    named = ((name, value, _NO_NEWS.get(name.lower())) for name, value in given.pairs)
    told = [(name, value) for name, value, usual in named if usual is None or not usual.fullmatch(value)]
    return tuple(f"{place} {name}: {value}" for place, (name, value) in enumerate(told))


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
