"""The person's own way out, where it leads through a corporate proxy.

Reads the usual variables of the person's environment, outside; the sandbox's are never looked at.
"""

import urllib.request
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import msgspec

from netpolicy.address import parse_literal

if TYPE_CHECKING:
    from mitmproxy.net.server_spec import ServerSpec


class CorporateProxy(msgspec.Struct, frozen=True, kw_only=True):
    """A proxy that is asked with CONNECT. `authorization` is the header's value, if it wants one."""

    host: str
    port: int
    authorization: str | None = None
    exempt: str = ""  # NO_PROXY

    def via(self, pinned: Collection[str] = ()) -> "Callable[[str], ServerSpec | None]":
        """Which proxy leads to a host: none to a literal address, a pinned or an exempt name."""
        spec: ServerSpec = ("http", (self.host, self.port))
        direct = frozenset(name.lower() for name in pinned)

        def choose(host: str) -> "ServerSpec | None":
            name = host.lower().removesuffix(".")
            if name in direct or _is_literal(name) or self._is_exempt(name):
                return None
            return spec

        return choose

    def _is_exempt(self, name: str) -> bool:
        return bool(urllib.request.proxy_bypass_environment(name, {"no": self.exempt}))  # type: ignore[attr-defined]


def from_environment(environment: Mapping[str, str]) -> CorporateProxy | None:
    """The proxy that HTTPS_PROXY or ALL_PROXY names. Raises ValueError for one that is not http://."""
    names = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    text = next((environment[name] for name in names if environment.get(name)), None)
    if text is None:
        return None
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("the proxy of the environment must be an http:// address")
    return CorporateProxy(
        host=parts.hostname,
        port=parts.port or 80,
        authorization=_basic(parts.username, parts.password),
        exempt=environment.get("no_proxy") or environment.get("NO_PROXY") or "",
    )


def _basic(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + b64encode(pair.encode()).decode()


def _is_literal(name: str) -> bool:
    try:
        return parse_literal(name) is not None
    except ValueError:
        return True
