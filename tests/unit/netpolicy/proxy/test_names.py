"""Made-up addresses and the name server that hands them out."""

import asyncio
import socket
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.ports import Attempt
from netpolicy.proxy.dns import NameServer, answer
from netpolicy.proxy.names import Names, TooManyNames, canonical_name

A, NS, TXT, AAAA, SVCB, HTTPS, ANY = 1, 2, 16, 28, 64, 65, 255


def query(name: str, kind: int = A, class_: int = 1, flags: int = 0x0100) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode("latin-1") for label in name.split(".") if label)
    return struct.pack("!6H", 7, flags, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", kind, class_)


def code(response: bytes | None) -> int:
    assert response is not None
    return response[3] & 0xF


def address(response: bytes | None) -> str | None:
    assert response is not None
    return socket.inet_ntoa(response[-4:]) if struct.unpack_from("!H", response, 6)[0] else None


def test_each_name_has_one_address_and_each_address_one_name(tmp_path: Path) -> None:
    names = Names(tmp_path / "names", 10)
    first, second = names.address_of("a.example"), names.address_of("b.example")
    assert (first, second) == ("198.18.0.1", "198.18.0.2")
    assert names.address_of("a.example") == first
    assert (names.name_of(first), names.name_of(second)) == ("a.example", "b.example")
    assert names.name_of("198.18.0.3") is None
    names.close()


def test_map_survives_a_restart_and_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "names"
    names = Names(path, 10)
    names.address_of("a.example")
    names.address_of("b.example")
    names.close()
    with path.open("ab") as file:
        file.write(b"torn.exam")
    again = Names(path, 10)
    assert again.name_of("198.18.0.2") == "b.example"
    assert again.name_of("198.18.0.3") is None
    assert again.address_of("c.example") == "198.18.0.3"
    assert path.read_bytes() == b"a.example\nb.example\nc.example\n"
    assert path.stat().st_mode & 0o777 == 0o600
    again.close()


def test_a_damaged_line_keeps_its_address_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "names"
    path.write_bytes(b"a.example\n\xff\xfe bad\na.example\n\nd.example\n")
    names = Names(path, 10)
    assert [names.name_of(f"198.18.0.{number}") for number in range(1, 6)] == [
        "a.example",
        None,
        None,
        None,
        "d.example",
    ]
    assert names.address_of("e.example") == "198.18.0.6"
    names.close()


def test_session_cannot_have_more_names_than_its_limit(tmp_path: Path) -> None:
    names = Names(tmp_path / "names", 2)
    names.address_of("a.example")
    names.address_of("b.example")
    with pytest.raises(TooManyNames):
        names.address_of("c.example")
    assert code(answer(query("c.example"), names)) == 2
    assert address(answer(query("a.example"), names)) == "198.18.0.1"
    names.close()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A.Example.", "a.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("_dmarc.a.example", "_dmarc.a.example"),
        ("localhost", "localhost"),
        ("", None),
        (".", None),
        ("a..b", None),
        ("-a.example", None),
        ("a-.example", None),
        ("a b.example", None),
        ("b\u00fccher.example", None),
        ("a\n.example", None),
        ("x" * 64 + ".example", None),
        (".".join(["x" * 60] * 5), None),
    ],
)
def test_names_are_checked(text: str, name: str | None) -> None:
    assert canonical_name(text) == name


@pytest.mark.parametrize(
    ("asked", "expected_code", "expected_address"),
    [
        (query("a.example"), 0, "198.18.0.1"),
        (query("LOCALHOST"), 0, "127.0.0.1"),
        (query("x.localhost"), 0, "127.0.0.1"),
        (query("a.example", AAAA), 0, None),
        (query("a.example", HTTPS), 0, None),
        (query("a.example", SVCB), 0, None),
        (query("a.example", ANY), 0, None),
        (query("a.example", TXT), 5, None),
        (query("a.example", NS), 5, None),
        (query("a.example", A, 3), 5, None),
        (query("a b.example"), 3, None),
        (query("."), 3, None),
        (query("a.example", flags=0x2900), 4, None),
        (struct.pack("!6H", 7, 0x100, 2, 0, 0, 0), 1, None),
        (struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1", 1, None),
        (query("a.example")[:-3], 1, None),
    ],
)
def test_answers(tmp_path: Path, asked: bytes, expected_code: int, expected_address: str | None) -> None:
    names = Names(tmp_path / "names", 10)
    response = answer(asked, names)
    assert (code(response), address(response)) == (expected_code, expected_address)
    assert response is not None
    assert response[:2] == b"\0\7"
    names.close()


@pytest.mark.parametrize("data", [b"", b"\0" * 11, query("a.example", flags=0x8100)])
def test_what_is_no_query_gets_no_answer(tmp_path: Path, data: bytes) -> None:
    names = Names(tmp_path / "names", 10)
    assert answer(data, names) is None
    names.close()


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    names = Names(tmp_path_factory.getbasetemp() / "fuzz", 10)
    answer(data, names)
    names.close()


def test_server_answers_on_a_ready_socket_and_tells_once_of_too_many_names(tmp_path: Path) -> None:
    told: list[Attempt] = []

    async def main() -> list[tuple[int, str | None]]:
        names = Names(tmp_path / "names", 1)
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
        server = NameServer(sock, names, told.append)
        await server.start()
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        found = []
        for name in ("a.example", "b.example", "c.example"):
            await loop.sock_sendto(client, query(name), sock.getsockname())
            response = await asyncio.wait_for(loop.sock_recv(client, 512), 2)
            found.append((code(response), address(response)))
        server.close()
        await asyncio.sleep(0)
        client.close()
        names.close()
        return found

    assert asyncio.run(main()) == [(0, "198.18.0.1"), (2, None), (2, None)]
    assert [it.reason for it in told] == ["too-many-names"]
