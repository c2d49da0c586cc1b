"""What a proxy is set up with."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from mitmproxy.net.server_spec import ServerSpec

from netpolicy.proxy.limits import LIMITS, Limits


def direct(_host: str) -> ServerSpec | None:
    """No corporate proxy."""
    return None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Folders and limits of one proxy.

    `authority` holds the certificate authority (`ca.Authority.folder`), `roots` is a PEM file with whom to
    trust upstream, `spool` a folder for large bodies. `via` names the proxy that leads to a host, if any,
    and `via_authorization` what that proxy wants to see.
    """

    authority: Path
    roots: Path
    spool: Path
    limits: Limits = LIMITS
    via: Callable[[str], ServerSpec | None] = direct
    via_authorization: str | None = None
