"""One spelling for hosts and paths, and what else a lenient server might make of them. Pure."""

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

import msgspec

from netpolicy.address import is_loopback_host, parse_literal

_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*", re.ASCII)
_SEGMENT = r"[A-Za-z0-9_.~!$&'()*+,=:@-]+"
_PLAIN_PATH = re.compile(rf"/(?:{_SEGMENT}(?:/{_SEGMENT})*/?)?")
_DOT_SEGMENT = re.compile(r"/\.{1,2}(?:/|$)")
_CUT = re.compile("[?#\x00]")


class HostError(ValueError):
    """A host that no request may name. `code` is kebab-case; the text says what is wrong."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _from_unicode(host: str) -> str:
    """A host in raw UTF-8 as its ASCII form; refused where folding makes an address of it."""
    try:
        ascii_form = host.encode("latin-1").decode("utf-8").encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise HostError(
            "malformed-request", "the host is neither ASCII nor a valid international name"
        ) from None
    if "xn--" not in ascii_form:
        raise HostError("host-disguised", f"the host folds to {ascii_form} while it is spelled otherwise")
    return ascii_form


@lru_cache(maxsize=4096)
def canonical_host(host: str) -> str:
    """`host` in lower case, without brackets and trailing dot, addresses and international names unified.

    Raises HostError for userinfo, percent signs, odd characters and addresses that are none.
    """
    if "@" in host:
        raise HostError("disagreement", "the host carries user information")
    if "%" in host:
        raise HostError("malformed-request", "the host is percent-encoded or carries a zone id")
    name = (host if host.isascii() else _from_unicode(host)).lower()
    try:
        literal = parse_literal(name)
    except ValueError as error:
        raise HostError("malformed-request", str(error)) from None
    if literal is not None:
        return literal
    name = name.removesuffix(".")
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise HostError("malformed-request", "the host is not a valid name")
    return name


def oddly_spelled(host: str) -> bool:
    """Whether a host is an address in a spelling nobody uses by accident."""
    text = host.lower().removesuffix(".").removeprefix("[").removesuffix("]")
    try:
        literal = parse_literal(text)
    except ValueError:
        return True
    return literal is not None and literal != text and not is_loopback_host(host)


class PathForm(msgspec.Struct, frozen=True, gc=False):
    """A path in one spelling.

    `path` is decoded once and normalised. `others` are what lenient servers could make of it: decoded
    twice, without path parameters, cut at an encoded end. A decision holds only if all agree.
    `odd` says that the wire spelling was not the plain one.
    """

    path: str
    others: tuple[str, ...] = ()
    odd: bool = False


def _decode(path: str) -> str:
    return unquote_to_bytes(path.encode("latin-1", "replace")).decode("utf-8", "surrogateescape")


def _normalise(path: str) -> str:
    """Backslashes, empty, `.` and `..` segments resolved; a trailing slash stays."""
    kept: list[str] = []
    segments = path.replace("\\", "/").split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    tail = "/" if kept and segments[-1] in ("", ".", "..") else ""
    return "/" + "/".join(kept) + tail


def _trim(segment: str) -> str:
    return segment if segment in ("", ".", "..") else segment.strip().rstrip(".") or segment


def _variants(once: str) -> list[str]:
    found = []
    twice = _decode(once.encode("utf-8", "surrogateescape").decode("latin-1")) if "%" in once else once
    for text in {once, twice}:
        found.append(_normalise(text))
        if ";" in text:
            found.append(_normalise("/".join(part.partition(";")[0] for part in text.split("/"))))
        # Some servers trim each segment, and some file systems its trailing dots.
        if (trimmed := _normalise("/".join(_trim(part) for part in text.split("/")))) != found[-1]:
            found.append(trimmed)
        if cut := _CUT.search(text):
            found.append(_normalise(text[: cut.start()]))
    return found


def canonical_path(raw: str) -> PathForm:
    """The path of an origin-form target, without its query."""
    if _PLAIN_PATH.fullmatch(raw) and not _DOT_SEGMENT.search(raw):
        return PathForm(raw)
    once = _decode(raw)
    path = _normalise(once)
    others = {form for form in _variants(once) if form != path}
    return PathForm(path, tuple(sorted(others)), odd=True)


def is_plain(target: str) -> bool:
    """Whether the path names one place, whoever reads it: nothing in it leads up or hides a `/`."""
    raw = split_target(target)[0]
    return "%2f" not in raw.lower() and _decode(raw) == canonical_path(raw).path


def split_target(target: str) -> tuple[str, str]:
    """Path and query of an origin-form target."""
    path, _, query = target.partition("?")
    return path, query
