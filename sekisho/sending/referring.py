"""What a held act refers to that may move, and its body with the id that is expected there. Pure."""

from typing import Any

import msgspec

from netpolicy.content import Unreadable, parse_json
from netpolicy.presets import shipped
from netpolicy.world import World
from sekisho.sending import movable, movable_graphql
from sekisho.sending.artifact import Bound, HttpAct
from sekisho.sending.movable import ABSENT, Movable

LARGEST_BODY = 1 << 20  # bytes of an act that are looked into
FORGES = frozenset({"github", "gitlab", "gitea", "forgejo"})


def refers_to(act: HttpAct, body: bytes | None, world: World) -> Movable:
    """What an act refers to that may move."""
    kind = world.profile(act.host, act.port)
    preset = shipped().find(act.host)
    if kind is None and preset is not None:
        kind = preset.kind
    value = _value(act, body)
    bare = act.path.partition("?")[0].rstrip("/")
    if bare.endswith("/graphql"):
        return movable_graphql.of_graphql(act.path, value) if kind in FORGES else movable.NOTHING
    given = movable.parameters(act.path, media_type(act), value)
    return movable.of_rest(act.method, act.path, given, kind)


def media_type(act: HttpAct) -> str:
    """Lower-case, without parameters; empty where the act names none."""
    value = next((value for name, value in act.headers if name.lower() == "content-type"), "")
    return value.partition(";")[0].strip().lower()


def _value(act: HttpAct, body: bytes | None) -> Any:
    encoded = any(name.lower() == "content-encoding" for name, _ in act.headers)
    if not body or encoded or len(body) > LARGEST_BODY:
        return None
    if media_type(act) == "application/x-www-form-urlencoded":
        return body.decode("utf-8", "replace")
    try:
        return parse_json(body)
    except Unreadable:
        return None


def pinned(act: HttpAct, body: bytes | None, wanted: Movable, bound: tuple[Bound, ...]) -> bytes | None:
    """The body with the expected id in it, where the API checks one and none was given; else None."""
    pinning = wanted.pinning
    if pinning is None or bound[pinning.reference].values == (ABSENT,):
        return None
    value = _value(act, body)
    if value is None and not body:
        value = {}
    if not isinstance(value, dict) or (body and media_type(act) != "application/json"):
        return None
    value = {**value, pinning.parameter: bound[pinning.reference].values[pinning.place]}
    return msgspec.json.encode(value)
