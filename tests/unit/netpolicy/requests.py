"""Requests written short, for the tables of the tests."""

from typing import Any

from netpolicy.explain import explain_http
from netpolicy.observe import observe
from netpolicy.request import Request
from netpolicy.world import World
from sekisho.core.action import Action

PUBLIC = ("93.184.216.34",)


def request(
    line: str, body: bytes | None = b"", headers: dict[str, str] | None = None, **more: Any
) -> Request:
    """`METHOD URL` as a request; `body` None: not read yet."""
    method, _, url = line.partition(" ")
    row: dict[str, Any] = {"method": method, "url": url, "headers": headers or {}}
    found, _ = explain_http({**row, **more})
    size = None if body is None else len(body)
    values = {name: getattr(found, name) for name in found.__struct_fields__}
    return Request(**{**values, "body": body, "body_size": size})


def judged(
    line: str, world: World, body: bytes = b"", headers: dict[str, str] | None = None, **more: Any
) -> Action:
    """The act of a request whose body is there."""
    action = observe(request(line, body, headers, **more), world)
    assert isinstance(action, Action)
    return action
