"""The throw-away API, as clients and as raw bytes see it."""

import base64
import hashlib
import json
import socket
import ssl
import struct
import time
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest

from sekisho.demo import Upstream


def https(upstream: Upstream) -> HTTPSConnection:
    context = ssl.create_default_context(cafile=str(upstream.ca_file))
    connection = HTTPSConnection("api.test", timeout=10, context=context)
    connection._create_connection = lambda *_: socket.create_connection((upstream.address, upstream.port))  # type: ignore[attr-defined]
    return connection


def wait_for(upstream: Upstream, event: str) -> None:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if any(record["event"] == event for record in upstream.journal.connections().values()):
            return
        time.sleep(0.01)
    pytest.fail(f"no connection was {event}")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET"])
def test_request_is_noted_with_digest_before_it_is_answered(upstream: Upstream, method: str) -> None:
    connection = https(upstream)
    connection.request(method, "/v1/users?x=1", body=b"hello", headers={"X-Trace": "7"})
    answer = connection.getresponse()
    (record,) = upstream.journal.requests()
    connection.close()
    assert answer.status == (201 if method == "POST" else 200)
    assert (record["name"], record["method"], record["path"]) == ("api.test", method, "/v1/users?x=1")
    assert (record["size"], record["sha256"]) == (5, hashlib.sha256(b"hello").hexdigest())
    assert ["X-Trace", "7"] in record["headers"]
    assert (record["scheme"], record["status"]) == ("https", answer.status)
    assert len(upstream.journal.writes()) == (method != "GET")


def test_keep_alive_serves_many_requests_on_one_connection(upstream: Upstream) -> None:
    connection = https(upstream)
    numbers = []
    for _ in range(3):
        connection.request("POST", "/")
        numbers.append(json.load(connection.getresponse())["number"])
    connection.close()
    assert numbers == [1, 2, 3]
    assert len(upstream.journal.connections()) == 1


def test_plain_http_is_served_on_the_same_port(upstream: Upstream) -> None:
    connection = HTTPConnection(upstream.address, upstream.port, timeout=10)
    connection.request("GET", "/", headers={"Host": "api.test"})
    assert connection.getresponse().status == 200
    connection.close()
    assert upstream.journal.requests()[0]["scheme"] == "http"


def test_chunked_body_is_counted_whole(upstream: Upstream) -> None:
    connection = https(upstream)
    connection.request("POST", "/", body=iter([b"a" * 70000, b"b"]), encode_chunked=True)
    assert json.load(connection.getresponse())["size"] == 70001
    connection.close()


def test_echo_returns_what_came(upstream: Upstream) -> None:
    connection = https(upstream)
    connection.request("PUT", "/echo", body=b"\x00\xff", headers={"Authorization": "Bearer t"})
    answer = json.load(connection.getresponse())
    connection.close()
    assert base64.b64decode(answer["body"]) == b"\x00\xff"
    assert ["Authorization", "Bearer t"] in answer["headers"]


def test_events_arrive_one_by_one(upstream: Upstream) -> None:
    connection = https(upstream)
    connection.request("GET", "/events?n=2&every=0.3")
    answer = connection.getresponse()
    started = time.monotonic()
    assert [answer.readline() for _ in range(3)] == [b"id: 1\n", b"data: event 1\n", b"\n"]
    assert time.monotonic() - started < 0.25
    assert answer.read() == b"id: 2\ndata: event 2\n\n"
    connection.close()


def test_big_sends_so_many_mebibytes(upstream: Upstream) -> None:
    connection = https(upstream)
    connection.request("GET", "/big?mb=3")
    assert len(connection.getresponse().read()) == 3 << 20
    connection.close()


@pytest.mark.parametrize("status", [200, 204, 403, 404, 429, 503])
def test_status_as_asked(upstream: Upstream, status: int) -> None:
    connection = https(upstream)
    connection.request("GET", f"/status/{status}")
    assert connection.getresponse().status == status
    connection.close()


def test_redirect_names_its_target(upstream: Upstream) -> None:
    connection = https(upstream)
    connection.request("GET", "/redirect?to=https%3A%2F%2Fapi.prod.test%2F")
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Location")) == (302, "https://api.prod.test/")
    connection.close()


def test_upgrade_answers_101_and_then_returns_raw_bytes(upstream: Upstream) -> None:
    with socket.create_connection((upstream.address, upstream.port), timeout=10) as sock:
        sock.sendall(
            b"GET /upgrade HTTP/1.1\r\nHost: api.test\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n"
        )
        assert sock.recv(4096).startswith(b"HTTP/1.1 101 ")
        sock.sendall(b"\x00not http")
        assert sock.recv(4096) == b"\x00not http"


def test_silent_connection_counts_zero_bytes(upstream: Upstream) -> None:
    socket.create_connection((upstream.address, upstream.port)).close()
    wait_for(upstream, "closed")
    assert upstream.received() == 0
    assert upstream.journal.requests() == []


def test_raw_bytes_are_counted_to_the_byte(upstream: Upstream) -> None:
    with socket.create_connection((upstream.address, upstream.port)) as sock:
        sock.sendall(b"SSH-2.0-x\r\n")
        wait_for(upstream, "closed")
    assert upstream.received() == 11


def test_raw_bytes_of_a_live_connection_are_counted(upstream: Upstream) -> None:
    with socket.create_connection((upstream.address, upstream.port)) as sock:
        sock.sendall(b"GET /slow")
        deadline = time.monotonic() + 5
        while upstream.received() != 9 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert upstream.received() == 9
        upstream.stop()
    assert upstream.received() == 9


def test_body_that_breaks_off_is_noted_without_status(upstream: Upstream) -> None:
    with socket.create_connection((upstream.address, upstream.port)) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 10\r\n\r\nabc")
    wait_for(upstream, "closed")
    (record,) = upstream.journal.requests()
    assert (record["status"], record["size"]) == (None, 3)


def test_reset_connection_ends_without_noise(upstream: Upstream) -> None:
    with socket.create_connection((upstream.address, upstream.port)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.sendall(b"GET / HTTP/1.1\r\n")
    wait_for(upstream, "closed")


def test_stop_ends_a_running_stream(upstream: Upstream) -> None:
    connection = https(upstream)
    connection.request("GET", "/events")
    answer = connection.getresponse()
    answer.readline()
    started = time.monotonic()
    upstream.stop()
    assert time.monotonic() - started < 5
    connection.close()


def test_authority_survives_a_restart(tmp_path: Path) -> None:
    first = Upstream(["a.test"], tmp_path, {})
    authority = first.ca_file.read_bytes()
    first.stop()
    second = Upstream(["b.test"], tmp_path, {})
    second.stop()
    assert second.ca_file.read_bytes() == authority
    assert (tmp_path / "ca" / "ca.key").stat().st_mode & 0o777 == 0o600
