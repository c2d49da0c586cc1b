"""A push advertisement written from a fetch advertisement (gitprotocol-http(5), gitprotocol-pack(5)).

Forges show `info/refs?service=git-receive-pack` only to those who may push. The refs themselves are
in the fetch advertisement, so the agent's git can be given what it needs to build a push. Pure.
"""

import re
from collections.abc import Iterator

from netpolicy.git.pktline import FLUSH, FLUSH_PKT, PktError, Special, line, read

CONTENT_TYPE = "application/x-git-receive-pack-advertisement"
_SERVICE = b"# service=git-upload-pack"
_REF = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) ([^\x00\n ]+)")
_OFFERED = "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options"
_NO_REFS = b"capabilities^{}"


def _lines(body: bytes) -> Iterator[bytes]:
    """The ref lines between the service header and the last flush."""
    payload, position = read(body)
    if payload.removesuffix(b"\n") != _SERVICE:
        raise PktError("not a fetch advertisement")
    payload, position = read(body, position)
    if payload is not FLUSH_PKT:
        raise PktError("no flush after the service header")
    while True:
        payload, position = read(body, position)
        if payload is FLUSH_PKT:
            break
        if isinstance(payload, Special):
            raise PktError("unexpected packet in the advertisement")
        yield payload.removesuffix(b"\n")
    if position != len(body):
        raise PktError("bytes after the advertisement")


def _object_format(capabilities: bytes, sample: bytes) -> str:
    for word in capabilities.decode("utf-8", "replace").split():
        if word.startswith("object-format="):
            return word.removeprefix("object-format=")
    return "sha256" if len(sample) == 64 else "sha1"


def _refs(body: bytes) -> tuple[list[tuple[bytes, bytes]], str]:
    refs: list[tuple[bytes, bytes]] = []
    capabilities: bytes | None = None
    sample = b""
    for raw in _lines(body):
        head, nul, rest = raw.partition(b"\x00")
        if nul and capabilities is None:
            capabilities = rest
        elif nul or capabilities is None:
            raise PktError("capabilities in the wrong place")
        if head.startswith(b"shallow "):
            continue
        match = _REF.fullmatch(head)
        if match is None:
            raise PktError("not a ref line")
        sample = sample or match[1]
        if match[2].startswith(b"refs/") and not match[2].endswith(b"^{}"):
            refs.append((match[1], match[2]))
    return refs, _object_format(capabilities or b"", sample)


def to_receive_pack(body: bytes, agent: str = "sekisho") -> bytes:
    """The receive-pack advertisement for the refs of an upload-pack advertisement (protocol 0).

    HEAD and peeled entries are left out, as receive-pack does. An empty repository is fine.
    Raises PktError on anything else: protocol 2, an error packet, bytes that are cut off.
    """
    refs, object_format = _refs(body)
    capabilities = f"{_OFFERED} object-format={object_format} agent={agent}".encode()
    width = 64 if object_format == "sha256" else 40
    entries = refs or [(b"0" * width, _NO_REFS)]
    first = line(b"%s %s\x00%s\n" % (*entries[0], capabilities))
    others = b"".join(line(b"%s %s\n" % entry) for entry in entries[1:])
    return line(b"# service=git-receive-pack\n") + FLUSH + first + others + FLUSH
