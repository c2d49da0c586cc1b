"""Patterns for hosts, paths, refs and argument lists, and which of several is the most specific.

* Host: `api.example.com`, `*.example.com` (any depth below, never `example.com` itself), `*`, an
  address; `*` inside a label stays inside it. `:PORT` may follow. Compared in lower case.
* Path: begins with `/`; `*` stays inside one segment, `**` as a segment of its own is any number of
  segments, none included when more follows. It is compared with the decoded path without its query;
  making a path canonical is the observer's part.
* Ref: as in git's refspecs `*` crosses slashes. Without `refs/` in front a branch is meant, so `*`
  is every branch and no tag; `refs/*` is everything.
* Name and argument: `*` is any run of characters.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import Any

Rank = tuple[int, int, int, int]

_LABEL = re.compile(r"[a-z0-9_*](?:[a-z0-9_*-]*[a-z0-9_*])?", re.ASCII)
_REF_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?\[\\]|\.\.|@\{|//|^/|/$|\.$|\.lock$")


@lru_cache(maxsize=4096)  # patterns are a policy's own, and asked for with every act
def specificity(pattern: str) -> Rank:
    """Orders patterns of one kind: exact above the rest, then more literal text, then fewer wildcards."""
    double = pattern.count("**")
    single = pattern.count("*") - 2 * double
    return (int("*" not in pattern), len(pattern) - single - 2 * double, -double, -single)


def most_specific[T](matching: Iterable[T], rank: Callable[[T], tuple[Any, ...]]) -> tuple[T, ...]:
    """Those with the highest `rank`, in order. More than one is a tie: there the strictest counts."""
    rated = [(rank(item), item) for item in matching]
    if not rated:
        return ()
    top = max(value for value, _ in rated)
    return tuple(item for value, item in rated if value == top)


def name_matches(pattern: str, name: str) -> bool:
    """Whether a tool, argument or ref matches; case counts, `*` is any run of characters."""
    head, *rest = pattern.split("*")
    if not rest:
        return name == head
    *middle, tail = rest
    if not (name.startswith(head) and name.endswith(tail) and len(name) >= len(head) + len(tail)):
        return False
    # Taking each piece at its first place is enough, and linear: names come from the agent.
    position, end = len(head), len(name) - len(tail)
    for piece in middle:
        position = name.find(piece, position, end)
        if position < 0:
            return False
        position += len(piece)
    return True


def argv_matches(pattern: Sequence[str], argv: Sequence[str], *, whole: bool) -> bool:
    """Whether each argument matches in turn; unless `whole`, more arguments may follow."""
    if len(argv) < len(pattern) or (whole and len(argv) != len(pattern)):
        return False
    return all(name_matches(part, argument) for part, argument in zip(pattern, argv, strict=False))


def split_port(text: str) -> tuple[str, int | None]:
    """`host:443` as (host, 443), `[::1]` as (::1, None). Raises ValueError for a port out of range."""
    host, port = text, ""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        if rest and not rest.startswith(":"):
            raise ValueError(f"{text!r} has text after the address")
        port = rest[1:]
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
        if not port:
            raise ValueError(f"{text!r} ends with a colon but no port")
    if not port:
        return host, None
    if not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= 65535 and len(port) < 6):
        raise ValueError(f"{text!r} has no port between 1 and 65535")
    return host, int(port)


def check_host(pattern: str) -> str:
    """The pattern in lower case without a trailing dot. Raises ValueError with what is wrong."""
    if "/" in pattern or "@" in pattern:
        raise ValueError(f"{pattern!r} is not a host; leave out the scheme, user and path")
    host, port = split_port(pattern.strip().lower())
    host = host.removesuffix(".")
    suffix = "" if port is None else f":{port}"
    if ":" in host or host.replace(".", "").isdigit():
        try:
            address = ip_address(host)
        except ValueError:
            raise ValueError(f"{pattern!r} is neither a host nor an address") from None
        return (f"[{address}]" if address.version == 6 else str(address)) + suffix
    if not host.isascii():
        raise ValueError(f"{pattern!r} is not ASCII; write the host as on the wire (xn--…)")
    if len(host) > 253 or not all(len(part) < 64 and _LABEL.fullmatch(part) for part in host.split(".")):
        raise ValueError(f"{pattern!r} is not a host pattern such as api.example.com or *.example.com")
    return host + suffix


def _labels_match(pattern: str, host: str) -> bool:
    wanted, given = pattern.split("."), host.split(".")
    if wanted[0] == "*":
        wanted = wanted[1:]
        if len(given) <= len(wanted):
            return False
        given = given[len(given) - len(wanted) :]
    return len(wanted) == len(given) and all(map(name_matches, wanted, given))


def host_matches(pattern: str, host: str, port: int | None = None) -> bool:
    """Whether a canonical host matches; a pattern with a port matches that port alone."""
    return _host_matches(pattern, host, port)


@lru_cache(maxsize=8192)  # few hosts meet the same patterns again and again
def _host_matches(pattern: str, host: str, port: int | None) -> bool:
    wanted, wanted_port = split_port(pattern)
    if wanted_port is not None and wanted_port != port:
        return False
    name = host.lower().removeprefix("[").removesuffix("]").removesuffix(".")
    return bool(name) and (wanted == "*" or _labels_match(wanted, name))


def check_path(pattern: str) -> str:
    """The pattern as given. Raises ValueError with what is wrong."""
    if not pattern.startswith("/"):
        raise ValueError(f"{pattern!r} is not a path pattern; it begins with /")
    if "?" in pattern or "#" in pattern:
        raise ValueError(f"{pattern!r} names a query or fragment; a path pattern stops before it")
    segments = pattern.split("/")
    if "." in segments or ".." in segments:
        raise ValueError(f"{pattern!r} holds a dot segment, which no canonical path has")
    if any("**" in segment and segment != "**" for segment in segments):
        raise ValueError(
            f"{pattern!r} joins ** with other text; in a path pattern it stands alone between slashes"
        )
    return pattern


def path_matches(pattern: str, path: str) -> bool:
    """Whether a canonical path matches; a query is cut off before comparing."""
    return _runs_match(_path_runs(pattern), path.partition("?")[0].split("/"))


@lru_cache(maxsize=4096)
def _path_runs(pattern: str) -> list[list[str]]:
    """What stands between one `**` and the next, by segments; not to be changed."""
    wanted = pattern.split("/")
    if wanted[-1] == "**":
        wanted[-1:] = ["*", "**"]  # what lies below, not the folder itself
    runs: list[list[str]] = [[]]
    for segment in wanted:
        if segment == "**":
            runs.append([])
        else:
            runs[-1].append(segment)
    return runs


def _runs_match(runs: list[list[str]], given: list[str]) -> bool:
    """`runs` are what stands between one `**` and the next; each is taken at its first place."""
    head, *rest = runs
    if not _run_at(head, given, 0):
        return False
    if not rest:
        return len(head) == len(given)
    *middle, tail = rest
    position, end = len(head), len(given) - len(tail)
    for run in middle:
        found = next((at for at in range(position, end - len(run) + 1) if _run_at(run, given, at)), None)
        if found is None:
            return False
        position = found + len(run)
    return position <= end and _run_at(tail, given, end)


def _run_at(run: list[str], given: list[str], at: int) -> bool:
    part = given[at : at + len(run)]
    return len(part) == len(run) and all(map(name_matches, run, part))


def full_ref(name: str) -> str:
    """A branch name or pattern as the ref it means: `main` is `refs/heads/main`."""
    return name if name.startswith("refs/") or name == "HEAD" else f"refs/heads/{name}"


def check_ref(pattern: str) -> str:
    """The pattern as given. Raises ValueError where git could never have such a ref."""
    if not pattern or _REF_FORBIDDEN.search(pattern):
        raise ValueError(f"{pattern!r} is not a ref pattern such as main, release/* or refs/tags/v*")
    return pattern


def ref_matches(pattern: str, ref: str) -> bool:
    """Whether a full ref name matches."""
    return name_matches(full_ref(pattern), ref)


def ref_specificity(pattern: str) -> Rank:
    """As `specificity`, so that `main` and `refs/heads/main` rank alike."""
    return specificity(full_ref(pattern))
