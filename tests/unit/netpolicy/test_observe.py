import gzip
import json
import time
from statistics import median
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.observe import NeedBody, observe
from netpolicy.request import Request
from netpolicy.world import World, of_policy
from sekisho.core.action import Action, Credential, Effect, Reach, Stakes
from sekisho.core.gate import Gate, gate_of
from sekisho.core.policy import HostEntry, Model, Network, NetworkRule, Policy, Project, Tool
from sekisho.core.verdict import Verdict, judge
from tests.unit.netpolicy.requests import PUBLIC, judged, request

PLAIN = World(resolved=PUBLIC)
READ, EXTERNAL, UNKNOWN, FORBIDDEN = Effect.READ, Effect.EXTERNAL, Effect.UNKNOWN, Effect.FORBIDDEN


def ruled(*rules: NetworkRule) -> World:
    return World(resolved=PUBLIC, policy=Policy(network=Network(rule=rules)))


def rule(**fields: Any) -> World:
    return ruled(NetworkRule(**fields))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("GET https://user@api.example/", "disagreement"),
        ("GET http://169.254.169.254/", "metadata-service"),
        ("GET http://[::ffff:10.0.0.1]/", "private-address"),
        ("GET http://0x7f000001/", "private-address"),
        ("GET http://metadata.google.internal/", "metadata-service"),
        ("GET http://router/", "private-address"),
        ("GET ftp://api.example/", "no-wire"),
        ("GET https://api.example/a b", "malformed-request"),
        ("G@T https://api.example/", "malformed-request"),
    ],
)
def test_what_is_never_done(line: str, code: str) -> None:
    action = judged(line, PLAIN)
    assert (action.effect, action.code) == (FORBIDDEN, code)
    assert gate_of(action) is Gate.NEVER


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"connect": "other.example:443"}, "disagreement"),
        ({"connect": "api.example:8443"}, "disagreement"),
        ({"sni": "other.example"}, "disagreement"),
        ({"authority": "other.example"}, "disagreement"),
        ({"headers": (("Host", "other.example"),)}, "disagreement"),
        ({"headers": (("Host", "api.example"), ("Host", "api.example"))}, "malformed-request"),
        ({"headers": ()}, "malformed-request"),
        ({"headers": (("Host", "api.example"), ("X-A", "a\r\nB: c"))}, "malformed-request"),
        ({"headers": (("Host", "api.example"), ("X A", "a"))}, "malformed-request"),
        ({"headers": (("Host", "api.example"), ("Content-Length", "+1"))}, "malformed-request"),
        (
            {"headers": (("Host", "api.example"), ("Content-Length", "1"), ("Transfer-Encoding", "chunked"))},
            "malformed-request",
        ),
        ({"headers": (("Host", "api.example"), ("Transfer-Encoding", "xchunked"))}, "malformed-request"),
    ],
)
def test_disagreeing_and_smuggling_requests_are_forbidden(changes: dict[str, Any], code: str) -> None:
    base = request("GET https://api.example/")
    action = observe(msgspec.structs.replace(base, **changes), PLAIN)
    assert isinstance(action, Action)
    assert (action.effect, action.code) == (FORBIDDEN, code)


def test_agreeing_names_pass_in_any_case() -> None:
    base = request("GET https://API.example./")
    same = msgspec.structs.replace(
        base, connect="api.EXAMPLE:443", sni="Api.example", authority="api.example"
    )
    action = observe(same, PLAIN)
    assert isinstance(action, Action)
    assert action.effect is READ
    assert action.target == "https://api.example/"


@pytest.mark.parametrize(
    "resolved", [("10.0.0.1",), ("93.184.216.34", "127.0.0.1"), ("::1",), ("169.254.169.254",)]
)
def test_a_name_that_leads_inside_is_forbidden(resolved: tuple[str, ...]) -> None:
    assert judged("GET https://api.example/", World(resolved=resolved)).effect is FORBIDDEN


def test_a_name_that_does_not_resolve_is_unknown() -> None:
    assert judged("GET https://api.example/", World(resolved=())).code == "host-unresolved"


def test_before_resolving_the_rest_is_judged() -> None:
    assert judged("GET https://api.example/", World(resolved=None)).effect is READ


def test_a_pinned_name_may_be_private() -> None:
    world = World(resolved=("10.1.2.3",), pinned=frozenset({"git.corp.internal"}))
    assert judged("GET https://git.corp.internal/", world).effect is READ


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "FROB"])
def test_the_sandbox_itself_is_local(method: str) -> None:
    action = judged(f"{method} http://localhost:3000/x", PLAIN, b"x")
    assert action.effect is Effect.LOCAL
    assert gate_of(action) is Gate.AUTO


def test_the_most_specific_rule_decides() -> None:
    world = ruled(
        NetworkRule(host="*.example", effect="external"),
        NetworkRule(host="api.example", method="POST", path="/v1/render", effect="read", source="t:1"),
    )
    render = judged("POST https://api.example/v1/render", world, b"{}")
    assert (render.effect, render.rules[0].source) == (READ, "t:1")
    assert judged("POST https://api.example/v1/other", world, b"{}").effect is EXTERNAL
    assert judged("GET https://api.example/v1/render", world).effect is EXTERNAL
    assert judged("POST https://api.example/v1/%72ender", world, b"{}").effect is READ
    assert judged("POST https://api.example/v1/render/../other", world, b"{}").effect is EXTERNAL


def test_a_rule_does_not_open_what_is_forbidden() -> None:
    world = rule(host="*", effect="read")
    assert judged("GET http://10.0.0.1/", world).effect is FORBIDDEN


def test_a_rule_may_ask_for_a_person_at_a_read() -> None:
    action = judged("GET https://api.example/x", rule(host="api.example", effect="read", sensitive=True))
    assert action.effect is READ
    assert gate_of(action) is Gate.HUMAN


@pytest.mark.parametrize(
    "headers", [{"X-HTTP-Method-Override": "DELETE"}, {"Upgrade": "h2c"}, {"X-Original-URL": "/v1/users"}]
)
def test_a_rule_about_a_url_does_not_open_what_a_header_asks_for(headers: dict[str, str]) -> None:
    policy = Policy(network=Network(rule=(NetworkRule(host="api.example", method="GET", effect="read"),)))
    world = World(policy=policy, resolved=PUBLIC)
    action = judged("GET https://api.example/v1/render", world, b"", headers)
    assert action.effect is not READ
    assert judge(action, policy).verdict is Verdict.HOLD
    assert judge(judged("GET https://api.example/v1/render", world), policy).verdict is Verdict.ALLOW


def test_a_rule_about_a_url_only_tightens_what_a_body_says() -> None:
    world = rule(host="api.github.com", effect="read")
    headers = {"content-type": "application/json"}
    line = "POST https://api.github.com/graphql"
    assert judged(line, world, b'{"query":"mutation { a }"}', headers).effect is EXTERNAL
    strict = rule(host="api.github.com", effect="forbidden")
    assert judged(line, strict, b'{"query":"{ a }"}', headers).effect is FORBIDDEN


@pytest.mark.parametrize(
    ("default", "verdict"), [("read", Verdict.ALLOW), ("listed", Verdict.HOLD), ("gated", Verdict.HOLD)]
)
def test_policy_may_close_reads_of_unlisted_hosts(default: str, verdict: Verdict) -> None:
    policy = Policy(network=Network(default=default, host=(HostEntry(host="docs.example"),)))  # type: ignore[arg-type]
    world = msgspec.structs.replace(of_policy(policy), resolved=PUBLIC)
    assert judge(judged("GET https://other.example/", world), policy).verdict is verdict
    listed = judge(judged("GET https://docs.example/", world), policy).verdict
    assert listed is (Verdict.HOLD if default == "gated" else Verdict.ALLOW)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_named_port_of_the_persons_machine_is_judged_like_any_host(host: str) -> None:
    policy = Policy(network=Network(model=(Model(provider="ollama", key="env:K", host="localhost:11434"),)))
    world = of_policy(policy)

    def effect(line: str) -> Effect:
        action = observe(msgspec.structs.replace(request(line), local=True), world)
        assert isinstance(action, Action)
        return action.effect

    assert effect(f"POST http://{host}:11434/v1/chat/completions") is Effect.MODEL
    assert effect(f"POST http://{host}:11434/api/pull") is EXTERNAL
    assert effect(f"GET http://{host}:5000/health") is READ
    assert effect(f"DELETE http://{host}:5000/x") is EXTERNAL


@pytest.mark.parametrize("sni", ["localhost", "127.0.0.1", "a.localhost", "LOCALHOST"])
def test_a_named_port_answers_over_tls_by_each_name_of_the_machine(sni: str) -> None:
    arrived = request("GET https://127.0.0.1:8443/x", headers={"Host": f"{sni}:8443"})
    action = observe(msgspec.structs.replace(arrived, local=True, sni=sni), PLAIN)
    assert isinstance(action, Action)
    assert (action.effect, action.target) == (READ, "https://localhost:8443/x")


@pytest.mark.parametrize(
    ("local", "sni"), [(True, "other.example"), (True, "localhost.example"), (False, "localhost")]
)
def test_a_tls_name_that_is_not_the_host_is_a_disagreement(local: bool, sni: str) -> None:
    host = "127.0.0.1" if local else "api.example"
    arrived = msgspec.structs.replace(request(f"GET https://{host}:8443/x"), local=local, sni=sni)
    action = observe(arrived, PLAIN)
    assert isinstance(action, Action)
    assert (action.effect, action.code) == (FORBIDDEN, "disagreement")


def test_a_world_is_built_from_policy() -> None:
    policy = Policy(
        project=Project(environments={"production": ("*.prod.example",)}),
        network=Network(
            host=(HostEntry(host="search.example", profile="elasticsearch"),),
            model=(Model(provider="anthropic", key="env:K"),),
            resolve={"git.corp.example": "10.1.2.3"},
        ),
        tool=(Tool(name="mcp__crm__search", type="read", sensitive=True),),
    )
    world = msgspec.structs.replace(of_policy(policy, profiles={"mcp.example": "mcp"}), resolved=PUBLIC)
    assert judged("POST https://search.example/a/_search", world, b"{}").effect is READ
    assert judged("PUT https://api.prod.example/x", world).answers.reach is Reach.PRODUCTION
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}'
    found = judged("POST https://mcp.example/", world, call, {"content-type": "application/json"})
    assert found.detail["tool"] == "search"
    decision = judge(found, policy)
    assert (decision.action.effect, decision.verdict) == (READ, Verdict.HOLD)  # sensitive


# Bodies: asked for only where they decide.


@pytest.mark.parametrize(
    "line",
    [
        "GET https://a.example/",
        "DELETE https://a.example/x",
        "POST https://a.example/x",
        "POST http://localhost/x",
    ],
)
def test_headers_suffice(line: str) -> None:
    found = msgspec.structs.replace(request(line, None), body_size=10 if "POST" in line else None)
    assert isinstance(observe(found, PLAIN), Action)


def test_a_model_call_is_decided_by_its_headers() -> None:
    found = request("POST https://api.anthropic.com/v1/messages", None, {"content-length": "100000"})
    action = observe(found, World(providers=frozenset({"anthropic"}), resolved=PUBLIC))
    assert isinstance(action, Action)
    assert gate_of(action) is Gate.AUTO


@pytest.mark.parametrize(
    "line",
    [
        "POST https://api.github.com/graphql",
        "POST https://github.com/a/b.git/git-receive-pack",
        "POST https://github.com/a/b.git/git-upload-pack",
        "POST https://api.osv.dev/v1/query",
    ],
)
def test_a_body_that_decides_is_asked_for(line: str) -> None:
    headers = {"transfer-encoding": "chunked"}
    if line.endswith("upload-pack"):
        headers["content-type"] = "application/x-git-upload-pack-request"
    found = request(line, None, headers)
    assert isinstance(observe(found, PLAIN), NeedBody)
    final = observe(found, PLAIN, final=True)
    assert isinstance(final, Action)
    assert final.effect is UNKNOWN


def test_only_the_beginning_of_a_big_body_is_no_read() -> None:
    found = msgspec.structs.replace(request("POST https://api.osv.dev/v1/query", b"{}"), body_size=10**9)
    action = observe(found, PLAIN)
    assert isinstance(action, Action)
    assert action.effect is UNKNOWN


def test_the_beginning_of_a_big_push_tells_its_refs() -> None:
    line = b"0" * 40 + b" " + b"1" * 40 + b" refs/heads/x\x00report-status"
    body = b"%04x" % (len(line) + 4) + line + b"0000PACK"
    found = request("POST https://github.com/a/b.git/git-receive-pack", body)
    action = observe(msgspec.structs.replace(found, body_size=10**9), PLAIN)
    assert isinstance(action, Action)
    assert action.verb == "git.push"
    assert action.target == "https://github.com/a/b.git refs/heads/x"
    assert action.detail["refs"][0]["force"] is None
    assert action.answers.reversible
    assert action.answers.checkable


@pytest.mark.parametrize("encode", [lambda b: b, gzip.compress])
def test_a_planted_secret_in_the_body_of_a_search_is_forbidden(encode: Any) -> None:
    world = World(
        resolved=PUBLIC, profiles={"es.example": "elasticsearch"}, secrets=("PLANTED-0123456789abcdef",)
    )
    headers = {
        "content-type": "application/json",
        **({"content-encoding": "gzip"} if encode is gzip.compress else {}),
    }
    body = encode(b'{"query":"PLANTED-0123456789abcdef"}')
    assert judged("POST https://es.example/a/_search", world, body, headers).code == "planted-secret"
    assert judged("POST https://es.example/a/_search", world, encode(b"{}"), headers).effect is READ


def test_a_planted_secret_in_a_model_call_stays_a_model_call() -> None:
    world = World(resolved=PUBLIC, providers=None, secrets=("PLANTED-0123456789abcdef",))
    body = b'{"messages":[{"content":"PLANTED-0123456789abcdef"}]}'
    assert judged("POST https://api.anthropic.com/v1/messages", world, body).effect is Effect.MODEL


# Other methods and other ways.


@pytest.mark.parametrize(
    ("headers", "effect"),
    [
        ({"X-HTTP-Method-Override": "DELETE"}, EXTERNAL),
        ({"x-http-method": " delete "}, EXTERNAL),
        ({"X-Method-Override": "GET, PUT"}, EXTERNAL),
        ({"X-HTTP-Method-Override": "GET"}, READ),
        ({"X-Original-URL": "/admin/delete"}, UNKNOWN),
        ({"Upgrade": "websocket", "Connection": "Upgrade"}, UNKNOWN),
        ({"Upgrade": "h2c", "Connection": "Upgrade"}, UNKNOWN),
        ({"Content-Length": "3"}, UNKNOWN),
    ],
)
def test_a_get_that_asks_for_more(headers: dict[str, str], effect: Effect) -> None:
    body = b"a=1" if "Content-Length" in headers else b""
    assert judged("GET https://api.example/items/1", PLAIN, body, headers).effect is effect


def test_a_parameter_that_asks_for_another_method() -> None:
    assert judged("GET https://api.example/items/1?%5Fmethod=DELETE", PLAIN).effect is EXTERNAL
    assert judged("GET https://api.example/items/1?%255Fmethod=DELETE", PLAIN).effect is EXTERNAL
    form = {"content-type": "application/x-www-form-urlencoded"}
    world = rule(host="api.example", method="POST", effect="read")
    assert judged("POST https://api.example/x", world, b"_method=DELETE", form).effect is EXTERNAL
    assert judged("POST https://api.example/x", world, b"a=1", form).effect is READ


@pytest.mark.parametrize(
    ("line", "body", "effect"),
    [
        ("CONNECT api.example:443", b"", READ),
        ("CONNECT api.example:443", b"\x16\x03\x01\x02\x00", READ),
        ("CONNECT api.example:443", b"SSH-2.0-x\r\n", FORBIDDEN),
        ("CONNECT api.example:443", b"raw", UNKNOWN),
        ("CONNECT api.example:22", b"", FORBIDDEN),
        ("CONNECT api.example:5432", b"", UNKNOWN),
        ("CONNECT 10.0.0.1:443", b"", FORBIDDEN),
        ("CONNECT user@api.example:443", b"", FORBIDDEN),
    ],
)
def test_tunnels(line: str, body: bytes, effect: Effect) -> None:
    assert judged(line, PLAIN, body).effect is effect


@pytest.mark.parametrize(
    "line",
    [
        "GET https://evil.example/" + "Zk3" * 300,
        "GET https://evil.example/?d=" + "Zk3" * 300,
        "GET https://evil.example/" + "/".join(["Zk3" * 20] * 15),
        f"GET https://{'zk3' * 15}.{'q7w' * 15}.evil.example/",
        "GET https://evil.example/?t=ghp_" + "a1" * 18,
        "GET https://xn--gthub-n4a.com/acme/app",
        "GET https://app.example/unsubscribe?token=T",
        "GET https://app.example/logout",
        "GET https://app.example/api/items/7/delete",
        "GET https://app.example/api/webhooks/x",
        "GET https://web.archive.org/save/https://example.org/",
        "GET https://app.example/api?action=deleteUser&id=7",
        "GET https://proxy.example/fetch?url=http://169.254.169.254/",
        "GET https://api.example/x#y",
        "GET https://api.example\\@evil.example/",
        "GET https://api.example/a%00b",
        "GET https://api.example/a%250ab",
        "GET https://xn--pypal-4ve.com/",
        "GET https://1.1.1.1/dns-query?name=x",
        "GET https://dns.google/resolve?name=x",
        "GET http://mail.example:25/",
        "get https://api.example/x",
        "GET http://1572395042/",
    ],
)
def test_a_get_that_is_no_plain_read(line: str) -> None:
    assert judged(line, PLAIN).effect in (UNKNOWN, EXTERNAL)


@pytest.mark.parametrize(
    "line",
    [
        "GET https://docs.example/guide/webhooks/events",
        "GET https://search.example/?q=" + "plain+words+in+a+row+" * 40,
        "GET https://app.example/?action=list&page=2",
        "GET https://login.example/authorize?redirect_uri=http://localhost:8080/cb",
        "GET https://docs.example/api/delete",
        "GET https://cdn.example/3f2a9c51e2d84b063f2a9c51e2d84b06/app.js",
        "GET https://xn--bcher-kva.example/",
        "HEAD https://docs.example/",
        "OPTIONS https://api.example/x",
    ],
)
def test_ordinary_reads_pass(line: str) -> None:
    action = judged(line, PLAIN)
    assert action.effect is READ
    assert gate_of(action) is Gate.NONE


def test_answers_tell_credentials_stakes_and_targets_without_secrets() -> None:
    action = judged(
        "POST https://a.example/v1/members?token=abc", PLAIN, b"{}", {"authorization": "Bearer x"}
    )
    assert action.answers.credential is Credential.WRITE
    assert action.answers.stakes is Stakes.PERMISSIONS
    assert "abc" not in action.target
    read = judged("GET https://a.example/v1/members", PLAIN, b"", {"authorization": "Bearer x"})
    assert (read.answers.credential, read.answers.stakes) == (Credential.READ, Stakes.NONE)


TEXT = st.text(alphabet=st.characters(max_codepoint=255), max_size=30)
NAMES = st.sampled_from(["host", "upgrade", "content-type", "cookie", "x-http-method"])
HEADERS = st.lists(st.tuples(NAMES | TEXT, TEXT))


@given(
    TEXT, TEXT, TEXT, HEADERS, st.binary(max_size=60) | st.none(), st.sampled_from(["1.1", "1.0", "2", "x"])
)
def test_any_request_is_judged(
    method: str, host: str, path: str, headers: list[tuple[str, str]], body: bytes | None, version: str
) -> None:
    found = Request(
        method=method, scheme="https", host=host, port=443, path="/" + path, headers=tuple(headers),
        body=body, http_version=version,
    )  # fmt: skip
    assert isinstance(observe(found, PLAIN, final=True), Action)


@given(
    TEXT,
    st.dictionaries(st.sampled_from(["content-type", "upgrade", "x-http-method-override", "cookie"]), TEXT),
)
def test_any_path_and_headers_at_a_service_are_judged(path: str, headers: dict[str, str]) -> None:
    clean = path.replace("\r", "").replace("\n", "")
    for host in ("api.github.com", "slack.com", "x.s3.amazonaws.com"):
        judged(f"POST https://{host}/{clean}", PLAIN, b'{"query":"{a}"}', headers)


def test_a_decision_takes_no_noticeable_time() -> None:
    """A generous bound for a shared machine: it catches an accident, the benchmark measures."""
    found = request(
        "GET https://api.github.com/repos/a/b/pulls?state=open", b"", {"accept": "*/*", "user-agent": "x"}
    )
    body = json.dumps({"query": {"words": ["a plain text"] * 5000}}).encode()
    search = request("POST https://es.example/a/_search", body, {"content-type": "application/json"})
    world = World(
        resolved=PUBLIC, profiles={"es.example": "elasticsearch"}, secrets=("PLANTED-0123456789abcdef",)
    )

    def cost(what: Request) -> float:
        samples = []
        for _ in range(50):
            start = time.process_time()
            observe(what, world)
            samples.append(time.process_time() - start)
        return median(samples)

    assert cost(found) < 0.0005
    assert cost(search) < 0.02
