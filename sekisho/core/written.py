"""How single values are written in a policy: each reader takes the text and gives the value.

Every reader raises ValueError with a sentence for the person who wrote it.
"""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from sekisho.core import patterns, units
from sekisho.core.gate import Gate
from sekisho.core.policy import Rate

GATES = (Gate.AUTO, Gate.HUMAN, Gate.NEVER)
_METHOD = re.compile(r"\*|[A-Z][A-Z-]*")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_LOGIN = re.compile(r"[a-z][a-z0-9-]*")
_SECRET_KINDS = ("env", "cmd", "login", "file")
_SHELL = re.compile(r"[\"'`$|&;<>()\\*?]")


def text(value: str) -> str:
    """Any text but an empty one, without control characters."""
    if not value.strip():
        raise ValueError("it is empty")
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ValueError(f"{value!r} holds a control character")
    return value


def rate(value: str) -> Rate:
    """`60/m`."""
    return Rate(*units.rate(value))


def method(value: str) -> str:
    """An HTTP method in capitals, or `*`."""
    if not _METHOD.fullmatch(value):
        raise ValueError(f"{value!r} is not a method such as POST, or *; methods are in capitals")
    return value


def address(value: str) -> str:
    """An IP address with or without a port, as `10.1.2.3:8443` or `[fd00::1]:8443`."""
    try:
        ip_address(value)
    except ValueError:
        pass
    else:
        return value
    try:
        host, _ = patterns.split_port(value)
        ip_address(host)
    except ValueError:
        raise ValueError(f"{value!r} is not an address such as 10.1.2.3 or 10.1.2.3:8443") from None
    return value


def digest(value: str) -> str:
    """`sha256:` and 64 hex digits."""
    if not _DIGEST.fullmatch(value):
        raise ValueError(f"{value!r} is not a digest: sha256: and 64 hex digits")
    return value


def secret(value: str) -> str:
    """Where a secret is: `env:NAME`, `cmd:words`, `login:name` or `file:path`. Never echoed."""
    split_secret(value)
    return value


def announce(value: str) -> str:
    """A URL of a notification service without a login in it, or where one is: `env:NAME`, `cmd:words`."""
    scheme, there, rest = text(value).partition("://")
    if there and _SCHEME.fullmatch(scheme) and rest:
        if "@" in rest.partition("/")[0]:
            raise ValueError("it has a login in it; say where the whole URL is: env:NAME or cmd:WORDS")
        return value
    if value.partition(":")[0] not in ("env", "cmd"):
        raise ValueError("it is neither a URL such as ntfy://TOPIC nor env:NAME or cmd:WORDS")
    return secret(value)


def split_secret(value: str) -> tuple[str, tuple[str, ...]]:
    """The kind, and its argument; of `cmd` the argument list, which no shell sees."""
    kind, colon, rest = value.partition(":")
    if not colon or kind not in _SECRET_KINDS:
        raise ValueError("a secret itself does not belong here; say where it is: env:NAME or cmd:WORDS")
    if kind == "cmd":
        words = tuple(rest.split())
        if not words or _SHELL.search(rest):
            raise ValueError("cmd: takes plain words; no shell reads it, so quotes and $ mean nothing")
        return kind, words
    fits = {"env": _VARIABLE, "login": _LOGIN}.get(kind)
    if not rest or (fits is not None and not fits.fullmatch(rest)):
        raise ValueError(f"what follows {kind}: is not a name")
    return kind, (text(rest),)


def gate(value: str) -> Gate:
    """`auto`, `human` or `never`."""
    if value not in GATES:
        raise ValueError(f"{value!r} is not one of {', '.join(GATES)}")
    return Gate(value)


READERS: dict[str, Callable[[str], Any]] = {
    "duration": units.duration,
    "size": units.size,
    "rate": rate,
    "host": patterns.check_host,
    "path": patterns.check_path,
    "ref": patterns.check_ref,
    "method": method,
    "secret": secret,
    "address": address,
    "announce": announce,
    "file": text,
    "digest": digest,
    "text": text,
    "gate": gate,
}
