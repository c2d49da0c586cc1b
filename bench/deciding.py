"""How long one decision takes: from the headers, and with a body. CPU time of this thread,
the least of many batches: what others do on the machine only adds to it.

python -m bench.deciding [--profile NAME]
"""

import argparse
import base64
import cProfile
import json
import pstats
import random
import time
from collections.abc import Callable

import msgspec
from rich.console import Console
from rich.table import Table

from netpolicy.observe import NeedBody, observe
from netpolicy.request import Request
from netpolicy.world import World, of_policy
from sekisho.core.policy import BUILTIN, HostEntry, Network, Policy
from sekisho.core.verdict import judge

BATCH = 200  # decisions that are timed together: the clock's own cost vanishes
ROUNDS = 25
AGENT = (
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64) agent/1.2.3"),
    ("accept", "application/json, text/plain, */*"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-language", "en-US,en;q=0.9"),
    ("connection", "keep-alive"),
)
SECRETS = ("SEKISHO-CANARY-7f3a9c51e2d84b06",)
TURN = "100"  # stands in a request for the number of the turn: what is remembered of one answers for no other


def _world() -> World:
    hosts = tuple(
        HostEntry(host=f"{kind}.test", profile=kind)
        for kind in ("elasticsearch", "mcp", "clickhouse", "graphql")
    )
    policy = Policy(network=msgspec.structs.replace(BUILTIN.network or Network(), host=hosts))
    world = of_policy(policy, secrets=SECRETS, profiles={"npm.test": "npm"})
    return msgspec.structs.replace(world, resolved=("93.184.216.34",), providers=None)


def _get(host: str, path: str, *more: tuple[str, str]) -> Request:
    headers = (("host", host), *AGENT, *more)
    return Request(method="GET", scheme="https", host=host, port=443, path=path, headers=headers, sni=host)


def _post(host: str, path: str, body: bytes, kind: str = "application/json") -> Request:
    headers = (("host", host), *AGENT, ("content-type", kind), ("content-length", str(len(body))))
    return Request(
        method="POST", scheme="https", host=host, port=443, path=path, headers=headers, sni=host,
        body=body, body_size=len(body),
    )  # fmt: skip


def _conversation(size: int) -> bytes:
    """A model call as agents send them, of about `size` bytes."""
    part = {"role": "user", "content": [{"type": "text", "text": "def parse(line):\n    return 1\n" * 30}]}
    messages = [part] * max(1, size // len(json.dumps(part)))
    return json.dumps({"model": "m", "max_tokens": 1024, "messages": messages}).encode()


def _terms(size: int) -> bytes:
    """A search with many terms, of about `size` bytes."""
    terms = [f"term-{number:06}" for number in range(size // 15)]
    return json.dumps({"query": {"terms": {"tag": terms}}}).encode()


def _picture(call: dict[str, object], size: int) -> bytes:
    """A call that carries a file, of about `size` bytes."""
    noise = base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()
    return json.dumps({**call, "params": {"data": noise}}).encode()


def _links(call: dict[str, object], size: int) -> bytes:
    """A call with many long addresses, of about `size` bytes."""
    links = [f"https://docs.example/guide/chapters/{number:06}/how-to-begin" for number in range(size // 60)]
    return json.dumps({**call, "params": {"links": links}}).encode()


def _digests(call: dict[str, object], size: int) -> bytes:
    """A call with many SHA-256 digests, as lock files have them, of about `size` bytes."""
    noise = random.Random(1)
    digests = [noise.randbytes(32).hex() for _ in range(size // 68)]
    return json.dumps({**call, "params": {"digests": digests}}).encode()


def cases() -> dict[str, Request]:
    """What is decided, by name."""
    call = {"jsonrpc": "2.0", "id": 100, "method": "tools/list"}
    return {
        "GET, a forge": _get("api.github.com", "/repos/acme/app100/pulls?state=open&per_page=50"),
        "GET, an index": _get("npm.test", "/@scope%2fname100"),
        "GET, an unknown host": _get("docs.example", "/guide/install100.html?version=3"),
        "GET, a long query": _get("docs.example", "/search?q=100+" + "word+" * 100),
        "GET, a big cookie": _get("docs.example", "/100", ("cookie", "s=" + "ab12" * 500)),
        "POST, headers of a write": msgspec.structs.replace(
            _post("api.github.com", "/repos/acme/app100/issues", b"{}"), body=None
        ),
        "POST, MCP": _post("mcp.test", "/mcp", json.dumps(call).encode()),
        "POST, GraphQL": _post("graphql.test", "/graphql", b'{"query":"{ viewer100 { login } }"}'),
        "POST, SQL": _post("clickhouse.test", "/", b"SELECT a, count() FROM t WHERE b = 100 GROUP BY a"),
        "POST, model, 64 KB": _post("api.anthropic.com", "/v1/messages", _conversation(64 << 10)),
        "POST, search, 64 KB": _post("elasticsearch.test", "/logs/_search", _terms(64 << 10)),
        "POST, MCP, 64 KB": _post(
            "mcp.test", "/mcp", json.dumps([call] * 100 + [{"x": "y" * 56000}]).encode()
        ),
        "POST, MCP, 64 KB of base64": _post("mcp.test", "/mcp", _picture(call, 64 << 10)),
        "POST, MCP, 64 KB of links": _post("mcp.test", "/mcp", _links(call, 64 << 10)),
        "POST, MCP, 64 KB of digests": _post("mcp.test", "/mcp", _digests(call, 64 << 10)),
    }


def decide(request: Request, world: World) -> None:
    """One decision, as the gatekeeper makes it."""
    seen = observe(request, world)
    if not isinstance(seen, NeedBody):
        judge(seen, world.policy)


def turn(request: Request, number: int) -> Request:
    """The same request with another address, or another text in its body."""
    path = request.path.replace(TURN, str(number), 1)
    body = request.body and request.body.replace(TURN.encode(), str(number).encode(), 1)
    return msgspec.structs.replace(request, path=path, body=body)


def seconds(request: Request, world: World) -> float:
    """The least CPU time of one decision."""
    batch = BATCH if (request.body_size or 0) < 4096 else 10
    rounds = [
        [turn(request, number) for number in range(first, first + batch)]
        for first in range(100, 100 + batch * (ROUNDS + 1), batch)
    ]

    def work() -> None:
        for asked in rounds.pop():
            decide(asked, world)

    return _timed(work) / batch


def _timed(work: Callable[[], object]) -> float:
    work()
    spent = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        work()
        spent.append(time.thread_time() - began)
    return min(spent)


def run(console: Console) -> None:
    """Print the table."""
    world = _world()
    table = Table("one decision", "µs", title="deciding, CPU time in the gatekeeper", title_justify="left")
    for name, request in cases().items():
        table.add_row(name, f"{seconds(request, world) * 1e6:.0f}")
    console.print(table)


def main() -> None:
    """Measure, or profile one case."""
    parser = argparse.ArgumentParser(prog="python -m bench.deciding", description=__doc__)
    parser.add_argument("--profile", metavar="NAME", choices=list(cases()))
    options = parser.parse_args()
    if options.profile is None:
        run(Console(width=110, highlight=False))
        return
    world, request = _world(), cases()[options.profile]
    decide(request, world)
    with cProfile.Profile() as profile:
        for _ in range(500):
            decide(request, world)
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
