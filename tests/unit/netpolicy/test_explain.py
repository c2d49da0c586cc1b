"""Bytes are explained as the proxy reads them, and refused as it refuses them."""

from base64 import b64encode

import pytest

from netpolicy.explain import ReaderRefused, explain_http


def _request(head: str, body: str = "") -> str:
    raw = b64encode(f"{head}\r\nHost: a.example\r\n\r\n{body}".encode()).decode()
    request, _ = explain_http({"method": "GET", "url": "http://a.example/", "raw": raw})
    return request.path


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_what_the_proxy_reads_is_read(version: str) -> None:
    assert _request(f"GET /x?y {version}") == "/x?y"


@pytest.mark.parametrize(
    "head", ["GET /x HTTP/2.0", "GET /x HTTP/0.9", "GET /x", "POST /x HTTP/1.1\r\nContent-Length: 9"]
)
def test_what_the_proxy_refuses_is_refused(head: str) -> None:
    with pytest.raises(ReaderRefused):
        _request(head, "a")
