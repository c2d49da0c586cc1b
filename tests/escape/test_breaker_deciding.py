"""Ways around what is counted and read before anybody decided, on the deciding parts themselves."""

from pathlib import Path

import msgspec
import pytest

from netpolicy.observe import observe
from netpolicy.ports import Pass, Refuse
from netpolicy.request import Request
from netpolicy.world import of_policy
from sekisho.broker.commands import ClonedFiles
from sekisho.broker.door import Door
from sekisho.broker.gate import Gate
from sekisho.broker.state import SessionState
from sekisho.core.action import Action
from sekisho.core.policy import Network, NetworkRule, Policy
from sekisho.core.verdict import Verdict, judge
from sekisho.sending import rereading
from sekisho.sending.artifact import HttpAct
from sekisho.store.store import Store
from shim.context import Kind
from tests.support.session_state import session_state


@pytest.fixture
def state(tmp_path: Path) -> SessionState:
    policy = Policy(network=Network(budget=1024))
    return session_state(tmp_path, "1129-break", policy, remotes=("https://git.own.test/a/b.git",))


def _get(path: str, host: str = "nobody.example") -> Request:
    return Request(method="GET", scheme="https", host=host, port=443, path=path, headers=(("Host", host),))


@pytest.mark.parametrize("service", ["git-receive-pack", "git-upload-pack"])
def test_lists_of_refs_are_counted_in_the_budget(state: SessionState, service: str) -> None:
    gate = Gate(Door(lambda reason, refused: True))
    gate.add(state)
    answers = [
        gate.preview(state.id, _get(f"/{'word/' * 20}{number}/info/refs?service={service}"))
        for number in range(30)
    ]
    assert isinstance(answers[0], Pass)
    assert isinstance(answers[-1], Refuse)
    assert sum(isinstance(answer, Pass) for answer in answers) < 1024 / 100


@pytest.mark.parametrize("host", ["nobody.example", "192.168.1.1"])
def test_nothing_is_read_for_a_held_act_from_a_host_nobody_named(
    tmp_path: Path, state: SessionState, host: str
) -> None:
    act = HttpAct(
        method="POST",
        scheme="https",
        host=host,
        port=443,
        path="/api/v4/projects/DATA/pipeline?ref=MORE",
        headers=(("Host", host),),
        transport=state.transport,
    )
    with Store(tmp_path / "state") as store:
        bound, _, told = rereading.bind(store, state.policy, act, None, state.world, state.context)
    assert bound.bound == ()
    assert "not free" in str(told["warnings"])


@pytest.fixture
def clone(tmp_path: Path) -> ClonedFiles:
    """A clone with ways out of it: a link to a home, and `.git` files that name a repository there."""
    home = tmp_path / "home"
    (home / ".git").mkdir(parents=True)
    (home / ".git" / "config").write_text('[alias]\n\tsecret = "!echo of the person"\n')
    (home / "letter.txt").touch()
    tree = tmp_path / "clone"
    for name in ("by-file", "by-common/.git"):
        (tree / name).mkdir(parents=True)
    (tree / "link").symlink_to(home)
    (tree / "by-file" / ".git").write_text(f"gitdir: {home}/.git\n")
    (tree / "by-common" / ".git" / "commondir").write_text(f"{home}/.git\n")
    (tree / "own.txt").touch()
    return ClonedFiles("/project", str(tree))


def test_links_out_of_the_clone_tell_nothing_of_what_lies_there(clone: ClonedFiles) -> None:
    assert clone.kind("/project/own.txt") is Kind.FILE
    assert clone.matches("/project/*.txt") == ("/project/own.txt",)
    assert clone.kind("/project/link/letter.txt") == clone.kind("/project/link/no-letter.txt")
    for pattern in ("/project/link/*", "/project/*/letter.txt", "/project/**/letter.txt"):
        assert not any("letter.txt" in found and "*" not in found for found in clone.matches(pattern))


@pytest.mark.parametrize("folder", ["link", "by-file", "by-common"])
def test_no_git_configuration_outside_of_the_clone_is_read(clone: ClonedFiles, folder: str) -> None:
    assert clone.git_config(f"/project/{folder}") == ()


def test_a_get_with_a_body_is_held_even_where_a_rule_calls_gets_reads() -> None:
    everything = NetworkRule(host="nobody.example", method="GET", path="/**", effect="read")
    world = of_policy(Policy(network=Network(rule=(everything,))))
    hidden = b"POST /smuggled HTTP/1.1\r\nHost: nobody.example\r\nContent-Length: 0\r\n\r\n"
    seen = observe(msgspec.structs.replace(_get("/"), body=hidden, body_size=len(hidden)), world, final=True)
    assert isinstance(seen, Action)
    assert judge(seen, world.policy).verdict is Verdict.HOLD


@pytest.mark.parametrize(
    ("path", "verdict"), [("/**", Verdict.HOLD), ("/live/*", Verdict.HOLD), ("/live/feed", Verdict.ALLOW)]
)
def test_only_a_rule_for_the_very_path_opens_a_websocket(path: str, verdict: Verdict) -> None:
    opened = NetworkRule(host="nobody.example", method="GET", path=path, effect="read")
    world = of_policy(Policy(network=Network(rule=(opened,))))
    upgrade = (("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"))
    request = _get("/live/feed")
    request = msgspec.structs.replace(request, headers=(*request.headers, *upgrade))
    seen = observe(request, world, final=True)
    assert isinstance(seen, Action)
    assert judge(seen, world.policy).verdict is verdict


@pytest.mark.parametrize(
    "where",
    [
        "cloudflare-dns.com/dns-query?name=data.evil.example",
        "dns.google/resolve?name=data.evil.example",
        "dns.quad9.net/dns-query/?name=data.evil.example",
        "dns.nextdns.io/abc123?name=data.evil.example",
    ],
)
def test_no_name_is_asked_over_https(where: str) -> None:
    host, _, path = where.partition("/")
    seen = observe(_get(f"/{path}", host), of_policy(Policy()), final=True)
    assert isinstance(seen, Action)
    assert judge(seen, Policy()).verdict is Verdict.HOLD


@pytest.mark.parametrize("host", ["s3.amazonaws.com", "storage.googleapis.com", "proxy.golang.org"])
def test_places_that_anybody_rents_below_a_known_host_have_a_budget(state: SessionState, host: str) -> None:
    gate = Gate(Door(lambda reason, refused: True))
    gate.add(state)
    answers = [gate.preview(state.id, _get(f"/mine{number}/{'word/' * 40}", host)) for number in range(20)]
    assert isinstance(answers[0], Pass)
    assert isinstance(answers[-1], Refuse)
