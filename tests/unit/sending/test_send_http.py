"""One stored request goes to one address, as it was held."""

import hashlib
import io
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from sekisho.demo import Upstream
from sekisho.sending import send_http
from sekisho.sending.artifact import HttpAct
from sekisho.sending.send_http import NotSent, Uncertain

ACT = HttpAct(
    method="POST",
    scheme="http",
    host="api.test",
    port=80,
    path="/m",
    headers=(("Host", "api.test"), ("X-Mark", "one")),
)
TLS = ssl.create_default_context()


def act(body: bytes | None = None, **changes: Any) -> HttpAct:
    """`ACT` with a body and other changes."""
    held = {} if body is None else {"body": hashlib.sha256(body).hexdigest(), "size": len(body)}
    return msgspec.structs.replace(ACT, **{**held, **changes})


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[tuple[tuple[str, int], list[bytes]]]:
    """A listener that keeps what it got first and then does `answer`; its address and the bytes."""
    got: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                got.append(connection.recv(65536))
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname(), got
        thread.join(10)


def test_the_bytes_are_those_of_the_wire() -> None:
    """Raw UTF-8 in the path, header spelling and order: nothing is tidied up on the way."""
    headers = (("hOst", "api.test"), ("X-B", "2"), ("X-A", "1"), ("X-A", "\xff"))
    path = "/k\xc3\xa4se?q=%41&r='\"`$()"
    with server(lambda c: c.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")) as (address, got):
        done = send_http.send(
            act(b"x=1", path=path, headers=headers), io.BytesIO(b"x=1"), address=address, tls=TLS
        )
    assert done.status == 204
    head = b"".join(got).split(b"\r\n\r\n")[0].split(b"\r\n")
    assert head == [
        b"POST /k\xc3\xa4se?q=%41&r='\"`$() HTTP/1.1",
        b"hOst: api.test",
        b"X-B: 2",
        b"X-A: 1",
        b"X-A: \xff",
        b"Content-Length: 3",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"path": "/a b"},
        {"path": "/a\r\nX-Injected: 1"},
        {"method": "POST /other HTTP/1.1\r\nX:"},
        {"headers": (("X-A", "1\r\nX-Injected: 1"),)},
        {"headers": (("X-A\r\nX-Injected", "1"),)},
        {"headers": (("X-A", "\u20ac"),)},
    ],
    ids=str,
)
def test_what_would_end_its_own_line_is_not_sent(change: dict[str, Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        with pytest.raises(NotSent):
            send_http.send(act(**change), None, address=listener.getsockname(), tls=TLS)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_nobody_listening_is_surely_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    with pytest.raises(NotSent):
        send_http.send(act(), None, address=address, tls=TLS)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.", b"nonsense\r\n\r\n"])
def test_a_connection_that_breaks_afterwards_is_uncertain(said: bytes) -> None:
    with server(lambda c: c.sendall(said)) as (address, _), pytest.raises(Uncertain):
        send_http.send(act(b"a"), io.BytesIO(b"a"), address=address, tls=TLS)


@pytest.mark.parametrize(
    "said",
    [
        b"Content-Length: 9\r\n\r\nx",
        b"Transfer-Encoding: chunked\r\n\r\n9\r\nx",
        b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
    ],
)
def test_an_answer_that_breaks_off_counts_by_its_status(said: bytes) -> None:
    with server(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\n" + said)) as (address, _):
        done = send_http.send(act(b"a"), io.BytesIO(b"a"), address=address, tls=TLS)
    assert (done.status, done.body, done.truncated) == (200, b"x", True)


def test_an_untrusted_certificate_means_that_nothing_is_sent(upstream: Upstream) -> None:
    before = len(upstream.journal.requests())
    with pytest.raises(NotSent):
        send_http.send(act(scheme="https"), None, address=(upstream.address, upstream.port), tls=TLS)
    assert len(upstream.journal.requests()) == before


def test_a_certificate_for_another_name_means_that_nothing_is_sent(upstream: Upstream) -> None:
    trust = send_http.trust(str(upstream.ca_file))
    with pytest.raises(NotSent):
        send_http.send(
            act(scheme="https", host="other.example"),
            None,
            address=(upstream.address, upstream.port),
            tls=trust,
        )
    assert upstream.journal.requests() == []


def test_only_those_whom_the_gate_trusted_are_trusted(upstream: Upstream) -> None:
    (one,) = send_http.trust(str(upstream.ca_file)).get_ca_certs(binary_form=True)
    assert one == ssl.PEM_cert_to_DER_cert(upstream.ca_file.read_text())


def test_a_trusted_upstream_gets_it_once_with_the_approved_credential(upstream: Upstream) -> None:
    trust = send_http.trust(str(upstream.ca_file))
    body = bytes(range(256)) * 4096
    done = send_http.send(
        act(body, scheme="https", headers=(("Host", "api.test"), ("authorization", "placeholder"))),
        io.BytesIO(body),
        address=(upstream.address, upstream.port),
        tls=trust,
        headers=(("Authorization", "Bearer real"),),
    )
    assert done.status == 201
    (sent,) = upstream.journal.writes(name="api.test")
    assert sent["sha256"] == hashlib.sha256(body).hexdigest()
    assert [pair[1] for pair in sent["headers"] if pair[0].lower() == "authorization"] == ["Bearer real"]


def test_a_redirect_is_an_answer_and_not_followed(upstream: Upstream) -> None:
    done = send_http.send(
        act(path="/redirect?to=/other"), None, address=(upstream.address, upstream.port), tls=TLS
    )
    assert done.status == 302
    assert [r["path"] for r in upstream.journal.requests()] == ["/redirect?to=/other"]


def test_a_long_answer_is_cut(upstream: Upstream) -> None:
    done = send_http.send(act(path="/big?mb=3"), None, address=(upstream.address, upstream.port), tls=TLS)
    assert (len(done.body), done.truncated) == (send_http.KEEP, True)
