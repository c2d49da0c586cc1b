"""Sliding windows of rules, and the budget of what reads may send to hosts that nobody listed."""

import msgspec
import pytest

from netpolicy.known import is_known
from netpolicy.request import Request
from netpolicy.world import of_policy
from sekisho.broker.rates import Budgets, Meter, Windows, domain
from sekisho.core.action import Action, Effect
from sekisho.core.opinion import RateLimit
from sekisho.core.policy import HostEntry, Model, Network, NetworkRule, Policy, Rate
from sekisho.core.verdict import Verdict, judge


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def _limit(count: int, seconds: float, key: str = "k") -> RateLimit:
    return RateLimit(key=key, rate=Rate(count, seconds))


def _request(
    path: str = "/", host: str = "a.test", scheme: str = "https", size: int | None = None
) -> Request:
    headers = (("host", host), ("user-agent", "agent/1"))
    port = {"https": 443, "http": 80}[scheme]
    return Request(
        method="GET", scheme=scheme, host=host, port=port, path=path, headers=headers, body_size=size
    )


def test_a_window_slides() -> None:
    clock = Clock()
    windows = Windows(clock)
    for second in (0, 10, 20):
        clock.now = 1000.0 + second
        assert windows.take("s", [_limit(3, 60)]) is None
    past = windows.take("s", [_limit(3, 60)])
    assert past is not None
    assert past[1] == 40.0
    clock.now = 1060.1
    assert windows.take("s", [_limit(3, 60)]) is None
    assert windows.take("s", [_limit(3, 60)]) is not None


def test_what_is_refused_is_not_counted() -> None:
    clock = Clock()
    windows = Windows(clock)
    both = [_limit(5, 60, "wide"), _limit(1, 60, "narrow")]
    assert windows.take("s", both) is None
    for _ in range(10):
        assert windows.take("s", both) is not None
    assert all(windows.take("s", [both[0]]) is None for _ in range(4))


def test_sessions_and_rules_count_apart() -> None:
    windows = Windows(Clock())
    assert windows.take("one", [_limit(1, 60)]) is None
    assert windows.take("two", [_limit(1, 60)]) is None
    assert windows.take("one", [_limit(1, 60, "other")]) is None
    assert windows.take("one", [_limit(1, 60)]) is not None


def test_many_acts_at_once_count_as_many() -> None:
    windows = Windows(Clock())
    assert windows.take("s", [_limit(3, 60)], times=4) is not None
    assert windows.take("s", [_limit(3, 60)], times=3) is None


def test_only_what_is_new_to_a_host_counts() -> None:
    budgets = Budgets()
    assert budgets.spend("s", _request("/" + "x" * 900), 1000) is None
    for _ in range(50):
        assert budgets.spend("s", _request("/" + "x" * 900), 1000) is None
    assert budgets.spend("s", _request("/" + "y" * 900), 1000) is not None


def test_a_body_always_counts() -> None:
    budgets = Budgets()
    assert budgets.spend("s", _request(size=600), 1000) is None
    assert budgets.spend("s", _request(size=600), 1000) is not None


def test_a_wildcard_domain_has_one_budget() -> None:
    budgets = Budgets()
    spent = [budgets.spend("s", _request(host=f"{'d' * 50}{n}.evil.test"), 1000) for n in range(40)]
    assert spent[0] is None
    assert spent[-1] is not None


def _sent(*headers: tuple[str, str], host: str = "a.test") -> Request:
    return msgspec.structs.replace(_request(host=host), headers=(("host", host), *headers))


@pytest.mark.parametrize("name", ["X-Request-Id", "Accept-Encoding", "Date", "Connection", "Content-Length"])
def test_no_header_carries_words_past_the_budget(name: str) -> None:
    budgets = Budgets()
    spent = [budgets.spend("s", _sent((name, f"{n} words " * 20)), 1000) for n in range(40)]
    assert spent[-1] is not None


def test_names_of_headers_count() -> None:
    budgets = Budgets()
    assert [budgets.spend("s", _sent((f"X-{n}-" + "w" * 90, "1")), 1000) for n in range(40)][-1] is not None


def test_an_order_of_known_headers_counts() -> None:
    budgets = Budgets()
    values = [f"v{n}" for n in range(30)]
    turned = ([(f"X-{n}", value) for n, value in enumerate(values[t:] + values[:t])] for t in range(30))
    assert [budgets.spend("s", _sent(*pairs), 1000) for pairs in turned][-1] is not None


def test_all_domains_together_have_a_bound() -> None:
    budgets = Budgets()
    spent = [budgets.spend("s", _request("/" + "x" * 900, host=f"{n}.w{n}.io"), 1000) for n in range(40)]
    assert spent[0] is None
    assert spent[-1] is not None


def test_domains() -> None:
    assert domain("A.b.example.com.") == "example.com"
    assert domain("a.b.co.uk") == "b.co.uk"
    assert domain("93.184.216.34") == "93.184.216.34"
    assert domain("2606:4700::1") == "2606:4700::1"
    assert domain("localhost") == "localhost"


POLICY = Policy(
    network=Network(
        budget=2000,
        host=(HostEntry(host="listed.test"),),
        rule=(NetworkRule(host="api.test", effect="read", method="POST", path="/render", rate=Rate(2, 60)),),
        model=(Model(provider="anthropic", key="env:K", rate=Rate(1, 60)),),
    )
)
WORLD = of_policy(POLICY, profiles={"npm.test": "npm"})


def _read(host: str) -> Action:
    request = {"method": "POST", "host": host, "port": 443, "path": "/render"}
    return Action(
        verb="http.post", target=host, effect=Effect.UNKNOWN, reason="r", detail={"request": request}
    )


def test_a_rule_with_a_rate_is_refused_past_it() -> None:
    meter = Meter(Clock())
    decision = judge(_read("api.test"), POLICY)
    assert decision.verdict is Verdict.ALLOW
    request = _request("/render", "api.test")
    assert [meter.refused("s", WORLD, request, decision) for _ in range(2)] == [None, None]
    denied = meter.refused("s", WORLD, request, decision)
    assert denied is not None
    assert (denied.verdict, denied.code) == (Verdict.DENY, "rate-exceeded")
    assert "2/m" in denied.reason


def test_model_calls_have_the_rate_of_their_provider() -> None:
    meter = Meter(Clock())
    action = Action(verb="http.post", target="t", effect=Effect.MODEL, reason="r")
    decision = judge(action, POLICY)
    request = _request("/v1/messages", "api.anthropic.com")
    assert meter.refused("s", WORLD, request, decision) is None
    denied = meter.refused("s", WORLD, request, decision)
    assert denied is not None
    assert denied.code == "rate-exceeded"


def test_reads_of_unlisted_hosts_have_a_budget_and_those_of_listed_ones_have_none() -> None:
    meter = Meter(Clock())
    decision = judge(Action(verb="http.get", target="t", effect=Effect.READ, reason="r"), POLICY)
    for number in range(40):
        path = f"/{number}" + "x" * 200
        for host in ("listed.test", "npm.test", "github.com"):
            assert meter.refused("s", WORLD, _request(path, host), decision) is None
    answers = [meter.refused("s", WORLD, _request(f"/{n}" + "x" * 200), decision) for n in range(40)]
    assert answers[0] is None
    assert answers[-1] is not None
    assert answers[-1].code == "budget-exceeded"


def test_hosts_that_anybody_may_rent_are_not_known() -> None:
    assert not is_known(WORLD, _request(host="bucket-of-mallory.s3.amazonaws.com"))
    assert not is_known(WORLD, _request(host="github.com", scheme="http"))
