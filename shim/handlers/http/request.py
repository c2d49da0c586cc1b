"""One HTTP request: the method on the wire and the host decide."""

import re

from sekisho.core.action import Effect
from shim.address import authority, inner, is_loopback_host, is_uncertain_host
from shim.call import Call
from shim.text import HOLE, known

_A_REQUEST = 25  # steps
READS = frozenset(("GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "TRACE"))

_NOT_PUBLIC = "reads from an address that is not public"


def request(call: Call, method: str, url: str, *, elsewhere: str = "") -> None:
    """One request. `elsewhere` is where it really goes, if an option says so."""
    call.judge.effort.spend(_A_REQUEST)
    _scheme, host, _ = authority(url)
    host = elsewhere or host
    reads = method.upper() in READS
    verb = f"http.{method.lower()}" if known(method) else "http.request"
    if not known(method):
        call.does(Effect.UNKNOWN, url, "the method cannot be told", code="dynamic-method", verb=verb)
    elif HOLE in re.sub(r":[^\]]*$", "", host) or not host or (is_uncertain_host(host) and not reads):
        effect = Effect.READ if reads else Effect.UNKNOWN
        call.does(effect, url, "the host cannot be told", code="dynamic-target", verb=verb)
    elif is_loopback_host(host) and not _ambiguous(url):
        call.does(Effect.LOCAL, url, "talks to this machine", verb=verb)
    elif reads and (code := inner(host, call.context.pinned)) is not None:
        said = "asks a cloud's metadata service" if code == "metadata-service" else _NOT_PUBLIC
        call.does(Effect.FORBIDDEN, url, said, code=code, verb=verb)
    elif reads:
        call.does(Effect.READ, url, "reads from the network", verb=verb, inspected=True)
    else:
        call.does(
            Effect.EXTERNAL,
            url,
            f"{method.upper()} changes something outside",
            code="http-write",
            verb=verb,
            inspected=True,
        )


def _ambiguous(url: str) -> bool:
    """A backslash before an `@`: clients disagree on which side the host stands."""
    match = re.match(r"\w+:/+([^/?#]*)", url)
    if match is None or "\\" not in match[1]:
        return False
    return not is_loopback_host(match[1].split("\\", 1)[0])
