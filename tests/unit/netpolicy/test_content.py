import gzip
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy import content
from netpolicy.content import Repeated, Unreadable, decoded, parse_json, parse_multipart, repeats


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (b"text", []),
        (b"text", ["identity"]),
        (gzip.compress(b"text", mtime=0), ["gzip"]),
        (gzip.compress(b"te", mtime=0) + gzip.compress(b"xt", mtime=0), ["x-gzip"]),
        (zlib.compress(b"text"), ["deflate"]),
        (zlib.compress(b"text", wbits=-15), ["deflate"]),
        (brotli.compress(b"text"), ["br"]),
        (gzip.compress(zlib.compress(b"text"), mtime=0), ["deflate, GZIP"]),
        (gzip.compress(zlib.compress(b"text"), mtime=0), ["deflate", "gzip"]),
    ],
)
def test_content_codings_are_undone(body: bytes, codings: list[str]) -> None:
    assert decoded(body, codings) == b"text"


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (b"text", ["gzip"]),
        (b"text", ["x-private"]),
        (b"text", ["zstd"]),
        (gzip.compress(b"text", mtime=0)[:-4], ["gzip"]),
        (gzip.compress(b"text", mtime=0) + b"more", ["gzip"]),
        (zlib.compress(b"text") + b"more", ["deflate"]),
        (b"\x00", ["br"]),
        (b"", ["gzip,gzip,gzip,gzip"]),
    ],
)
def test_what_cannot_be_undone_is_refused(body: bytes, codings: list[str]) -> None:
    with pytest.raises(Unreadable):
        decoded(body, codings)


@pytest.mark.parametrize(
    ("bomb", "coding"),
    [
        (gzip.compress(b"0" * 1_000_000, mtime=0), "gzip"),
        (zlib.compress(b"0" * 1_000_000), "deflate"),
        (brotli.compress(b"0" * 1_000_000), "br"),
    ],
)
def test_a_bomb_does_not_unpack(bomb: bytes, coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MAX_DECODED", 100_000)
    with pytest.raises(Unreadable):
        decoded(bomb, [coding])


def test_repeated_keys_are_noticed() -> None:
    assert isinstance(parse_json(b'{"a":1,"a":2}'), Repeated)
    assert not isinstance(parse_json(b'{"a":1,"b":2}'), Repeated)
    assert isinstance(parse_json(b'{"x":{"a":1,"a":2}}')["x"], Repeated)
    assert repeats(parse_json(b'{"query":1,"Query":2}'), "query")
    assert not repeats(parse_json(b'{"query":1,"other":2}'), "query")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"NaN", b"[" * 100_000, b'{"a":1}x', b"\xef\xbb\xbf{}", b"1" * 5000]
)
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(Unreadable):
        parse_json(body)


@given(st.binary(max_size=100), st.sampled_from(["gzip", "deflate", "br", "x", ""]))
def test_any_bytes_decode_or_are_refused(body: bytes, coding: str) -> None:
    try:
        decoded(body, [coding])
    except Unreadable:
        return


def test_multipart_parts() -> None:
    body = (
        b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
        b'--b\r\ncontent-disposition: form-data; name="f"; filename="x"\r\n\r\n2\r\n--b--\r\n'
    )
    assert parse_multipart(body, "multipart/form-data; boundary=b") == [("a", b"1", False), ("f", b"2", True)]
    for wrong in (b"--b\r\n\r\n1\r\n--b--", b"--b\r\nx\r\n--b--"):
        with pytest.raises(Unreadable):
            parse_multipart(wrong, "multipart/form-data; boundary=b")
    with pytest.raises(Unreadable):
        parse_multipart(body, "multipart/form-data")
