"""What rules are asked with, as it is read from `Action.detail`. Each key may be missing:

* `request`: a table of `method`, `host`, `port` and `path`, all canonical, for `[[network.rule]]`,
  `[network] default` and environments; `listed` true where a preset names the host.
* `tool`: the name of an MCP tool that is called, for `[[tool]]`.
* `argv`: the argument list of a command, for `[[command]]` and `[[tool]]`; `script_digest` the
  digest of the project script that it runs.
* `refs`, `remote`, `push_options`: see `pushes`.
"""

import msgspec

from sekisho.core.action import Action
from sekisho.core.rules import (
    Spoken,
)


class Request(msgspec.Struct, frozen=True, gc=False):
    """The request part of an act's detail."""

    method: str
    host: str
    port: int | None
    path: str


def request_of(action: Action) -> Request | None:
    """The request of an act, None if it is not one or does not say where it goes."""
    request = action.detail.get("request")
    host = request.get("host") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(host, str) or not host:
        return None
    port = request.get("port")
    known_port = port if isinstance(port, int) else None
    return Request(str(request.get("method", "")), host, known_port, str(request.get("path", "/")))


def spoken_of(action: Action) -> Spoken:
    """What rules about commands are asked with; empty if the act is no command."""
    return Spoken(_words(action, "argv"), _words(action, "plain"))


def _words(action: Action, key: str) -> tuple[str, ...]:
    words = action.detail.get(key)
    return tuple(map(str, words)) if isinstance(words, (list, tuple)) else ()
