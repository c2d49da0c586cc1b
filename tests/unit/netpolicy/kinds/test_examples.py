"""Every kind decides its own examples as written."""

import pytest

from netpolicy.kinds import JUDGES, MODULES, module
from netpolicy.kinds.example import Example
from netpolicy.world import World
from sekisho.core.action import Effect
from tests.unit.netpolicy.requests import PUBLIC, judged

EXAMPLES: list[Example] = [example for name in MODULES for example in module(name).EXAMPLES]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_kinds_it_is_asked_for(name: str) -> None:
    assert sorted(module(name).KINDS) == MODULES[name].split()
    assert all(JUDGES[kind] == judge for kind, judge in module(name).KINDS.items())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.kind} {e.request[:60]} {e.effect}")
def test_example(example: Example) -> None:
    method, _, target = example.request.partition(" ")
    world = World(profiles={"service.example": example.kind}, resolved=PUBLIC)
    line = f"{method} https://service.example{target}"
    assert judged(line, world, example.body, dict(example.headers)).effect is example.effect


def test_every_module_shows_both_a_pass_and_a_hold() -> None:
    for name in MODULES:
        effects = {example.effect for example in module(name).EXAMPLES}
        assert Effect.EXTERNAL in effects, name
        assert Effect.READ in effects, name


@pytest.mark.parametrize("kind", sorted(JUDGES))
def test_a_write_by_method_is_never_a_read(kind: str) -> None:
    world = World(profiles={"service.example": kind}, resolved=PUBLIC)
    for method in ("PUT", "PATCH", "DELETE", "FROB"):
        action = judged(f"{method} https://service.example/some/thing", world)
        assert action.effect in (Effect.EXTERNAL, Effect.UNKNOWN), (kind, method)


@pytest.mark.parametrize("kind", sorted(JUDGES))
def test_any_body_is_judged_without_an_error(kind: str) -> None:
    world = World(profiles={"service.example": kind}, resolved=PUBLIC)
    bodies = (
        b"",
        b"\x00\xff\xfe",
        b"{",
        b"[]",
        b"[[]]",
        b'{"a":1,"a":2}',
        b"null",
        b"[" * 5000,
        b"query=%ff&query=",
    )
    types = (
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/xml",
        "",
        "a/b",
    )
    paths = ("/", "/graphql", "/a/b.git/git-receive-pack", "/a.git/info/lfs/objects/batch", "/query", "/pypi")
    for body in bodies:
        for media_type in types:
            for path in paths:
                headers = {
                    "content-type": media_type,
                    "content-encoding": "gzip" if len(media_type) == 3 else "",
                }
                judged(f"POST https://service.example{path}", world, body, headers)
