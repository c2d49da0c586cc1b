"""Data in places where a plain read has none: opaque runs in a URL, a cookie, a header, a host name.

On hosts that nobody declared, enough of it makes a GET an upload. Pure.
"""

import re
import string
from functools import lru_cache

from netpolicy.alphabet import Alphabet
from netpolicy.call import Call, Finding, unknown
from netpolicy.headers import REMEMBERED, Headers

MAX_IN_URL = 512  # characters
MAX_IN_HEADERS = 2048
MAX_IN_HOST = 60

_RUNS = Alphabet(string.ascii_letters + string.digits + "+/_=.~-")
_LEAST = 24  # characters of a run
_WORD = re.compile(r"[A-Za-z]{2,12}|[0-9]{1,4}")
_DIGIT = re.compile(r"[0-9]")
_PLAIN = frozenset({"authorization", "host", "accept", "accept-encoding"})
# Shapes of known credentials, and whose they are. Each alternative begins with a letter and the whole has
# no groups: `re` then skips whatever begins with none of these letters, which is ten times faster.
_CREDENTIALS = {
    "github": r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    "gitlab": r"glpat-[A-Za-z0-9_-]{20,}",
    "anthropic": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "slack": r"xox[abprs]-[A-Za-z0-9-]{20,}",
    "aws": r"AKIA[0-9A-Z]{16}",
    "npm": r"npm_[A-Za-z0-9]{36}",
    "huggingface": r"hf_[A-Za-z0-9]{30,}",
    "stripe": r"sk_live_[A-Za-z0-9]{20,}|rk_live_[A-Za-z0-9]{20,}",
    "google": r"AIza[0-9A-Za-z_-]{35}",
}
_CREDENTIAL = re.compile("|".join(_CREDENTIALS.values()))
_OF_CREDENTIALS = Alphabet(string.ascii_letters + string.digits + "_-")
_SHORTEST = 20  # characters of the shortest one, an access key of Amazon


def _weight(text: str) -> int:
    """How many characters of `text` look like data rather than words."""
    total = 0
    for run in map(bytes.decode, _RUNS.runs(text.encode("latin-1", "replace"), _LEAST)):
        words = sum(len(word) for word in re.split(r"[-_./=~+]", run) if _WORD.fullmatch(word))
        if words * 2 < len(run) and _DIGIT.search(run):
            total += len(run)
    return total


def _host_weight(host: str) -> int:
    return sum(
        len(label)
        for label in host.split(".")
        if len(label) > 20 and not label.startswith("xn--") and _weight(label) > 0
    )


def _plain(call: Call) -> str:
    """Path without its slashes, and the parameters, decoded: data may be cut into segments."""
    return " ".join([call.path.replace("/", ""), *(f"{key} {value}" for key, value in call.query)])


def carries_data(call: Call) -> Finding | None:
    """Opaque data, or a known service's credential, in a request to an undeclared host."""
    target = call.request.path
    if len(target) > MAX_IN_URL and _weight(_plain(call)) > MAX_IN_URL:
        return unknown("the address carries opaque data", code="opaque-url")
    if len(call.host) > MAX_IN_HOST and _host_weight(call.host) > MAX_IN_HOST:
        return unknown("the host name carries opaque data", code="opaque-host")
    if _heavy(call.headers):
        return unknown("the headers carry opaque data", code="opaque-headers")
    owner = _owner(target) or _owner_in(call.headers)
    if owner is not None:
        return unknown(f"a credential of {owner} to a host that is not theirs", code="credential-stray")
    return None


def _extra(headers: Headers) -> list[str]:
    return [value for name, values in headers.fields.items() if name not in _PLAIN for value in values]


@lru_cache(maxsize=REMEMBERED)
def _heavy(headers: Headers) -> bool:
    extra = _extra(headers)
    return sum(map(len, extra)) > MAX_IN_HEADERS and sum(map(_weight, extra)) > MAX_IN_HEADERS


@lru_cache(maxsize=REMEMBERED)
def _owner_in(headers: Headers) -> str | None:
    return _owner(" ".join([*_extra(headers), *headers.fields.get("authorization", ())[:1]]))


def _owner(text: str) -> str | None:
    """Whose the first credential in a text is."""
    if _OF_CREDENTIALS.lacks(text.encode("latin-1", "replace"), _SHORTEST):
        return None
    match = _CREDENTIAL.search(text)
    if match is None:
        return None
    return next(name for name, shape in _CREDENTIALS.items() if re.fullmatch(shape, match[0]))
