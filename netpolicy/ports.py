"""Between the proxy and whoever decides: the proxy asks through `Gatekeeper` and does as told.

The proxy never decides, the gatekeeper never touches a flow.
"""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Protocol

import msgspec

from netpolicy.request import Request


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer given in the upstream's place. `reason` is the short phrase of the status line."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """Forward the request.

    `headers` replace those of the same name (a credential for a placeholder). `advertise` asks for
    git's push advertisement: fetch `path` instead (an upload-pack advertisement) and turn the answer
    into a receive-pack one. `ended` is called once when it is over: the upstream's status (None: no
    answer), and whether the upstream was reached at all.
    """

    headers: tuple[tuple[str, str], ...] = ()
    path: str | None = None
    advertise: bool = False
    ended: Callable[[int | None, bool], None] | None = None


class Refuse(msgspec.Struct, frozen=True, kw_only=True):
    """Answer with `reply`; nothing is sent upstream."""

    reply: Reply


class Begin(msgspec.Struct, frozen=True, kw_only=True):
    """Begin to answer with `reply`, and go on with what `rest` gives as it comes; nothing is sent upstream.

    An exception from `rest` breaks the answer off, so that no client takes it for a whole one. `rest` has to
    notice by itself that the client has left.
    """

    reply: Reply
    rest: AsyncGenerator[bytes, None]


class Collect(msgspec.Struct, frozen=True, kw_only=True):
    """The body is needed before `rule` can answer. Past `limit` bytes the reply is a 413."""

    limit: int


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """A whole request body: in memory (`data`) or, when big, spooled to `path`. `size` in bytes.

    The file is the proxy's and goes when `rule` has answered; to keep it, link or move it before.
    """

    size: int
    sha256: str
    data: bytes | None = None
    path: Path | None = None


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that went nowhere. `reason` is kebab-case.

    `no-listener`: a first packet to a port that leads nowhere; `not-http`: bytes that are neither TLS nor
    HTTP; `private-address`: a name or address that is never dialled; `too-many-connections`;
    `too-many-names`; `slow-body`: a request body that took too long.
    """

    protocol: str  # "tcp" or "udp"
    address: str
    port: int
    name: str | None = None  # what the address stood for, if it was one of ours
    reason: str = "no-listener"


class Gatekeeper(Protocol):
    """Who decides. `preview` must not block; `rule` may take as long as it takes.

    Any exception from either means: refused, and nothing upstream.
    """

    def preview(self, session: str, request: Request) -> Pass | Refuse | Collect:
        """Decide from the headers, or ask for the body."""
        ...

    async def rule(
        self,
        session: str,
        request: Request,
        body: Body,
        connected: Callable[[], bool] = lambda: True,
    ) -> Pass | Refuse | Begin:
        """Decide with the whole body. `connected` tells whether the client still waits for the answer."""
        ...

    def finished(self, session: str, request: Request, status: int | None, received: int) -> None:
        """A passed request ended: the upstream's status (None: no answer) and body bytes received."""
        ...

    def attempted(self, session: str, attempt: Attempt) -> None:
        """The sandbox tried a way that does not exist."""
        ...
