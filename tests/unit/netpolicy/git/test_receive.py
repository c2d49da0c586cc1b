import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.git.pktline import FLUSH, PktError, line, packets, read
from netpolicy.git.receive import parse

ZERO, ONE, TWO = "0" * 40, "1" * 40, "2" * 40


def request(*commands: tuple[str, str, str], capabilities: str = "report-status", tail: bytes = b"") -> bytes:
    lines = []
    for index, (old, new, ref) in enumerate(commands):
        text = f"{old} {new} {ref}".encode()
        lines.append(line(text + (b"\x00 " + capabilities.encode() if index == 0 else b"")))
    return b"".join(lines) + FLUSH + tail


def test_commands_capabilities_and_pack() -> None:
    body = request((ZERO, ONE, "refs/heads/a"), (ONE, TWO, "refs/heads/b"), tail=b"PACKxxxx")
    push = parse(body)
    assert [(c.op, c.ref) for c in push.commands] == [("create", "refs/heads/a"), ("update", "refs/heads/b")]
    assert push.capabilities == "report-status"
    assert push.pack_offset is not None
    assert body[push.pack_offset :] == b"PACKxxxx"


def test_delete_has_no_pack() -> None:
    push = parse(request((ONE, ZERO, "refs/heads/a")))
    assert push.commands[0].op == "delete"
    assert push.pack_offset is None


def test_lone_flush_is_a_probe() -> None:
    assert parse(b"0000").probe


def test_signed_push_shows_the_commands_inside() -> None:
    certificate = [
        b"push-cert\x00report-status push-options",
        b"certificate version 0.1\n",
        b"pusher A <a@example.test> 1 +0000\n",
        b"push-option ci.skip\n",
        b"\n",
        f"{ONE} {TWO} refs/heads/main\n".encode(),
        b"-----BEGIN PGP SIGNATURE-----\n",
        b"xx\n",
        b"-----END PGP SIGNATURE-----\n",
        b"push-cert-end\n",
    ]
    push = parse(b"".join(map(line, certificate)) + FLUSH + line(b"ci.skip") + FLUSH + b"PACK")
    assert push.signed
    assert push.commands[0].ref == "refs/heads/main"
    assert push.push_options == ("ci.skip",)


def test_shallow_lines() -> None:
    push = parse(line(f"shallow {ONE}".encode()) + request((ZERO, TWO, "refs/heads/a")))
    assert push.shallow == (ONE,)


GOOD = f"{ZERO} {ONE} refs/heads/a".encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"000",
        b"zzzz\x00\x00",
        b"0003",
        b"ffff" + b"x" * 10,
        line(GOOD),
        line(b"want " + ONE.encode()) + FLUSH,
        line(GOOD + b" extra") + FLUSH,
        line(GOOD) + b"0001" + FLUSH,
        line(GOOD) + FLUSH + b"JUNK",
        b"0000PACK",
        line(GOOD + b"\x00a") + line(GOOD + b"\x00b") + FLUSH,
        line(b"push-cert\x00x") + FLUSH,
        line(b"push-cert\x00x") + line(b"\n") + line(b"push-cert-end\n") + line(GOOD) + FLUSH,
        line(GOOD + b"\x00push-options") + FLUSH + b"PACK",
        line(f"{ZERO} {'1' * 64} refs/heads/a".encode()) + FLUSH,
    ],
)
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(PktError):
        parse(body)


@given(st.binary(max_size=300))
def test_any_bytes_parse_or_are_refused(body: bytes) -> None:
    try:
        parse(body)
    except PktError:
        return


@given(st.data())
def test_a_cut_or_changed_push_never_raises_anything_else(data: st.DataObject) -> None:
    body = bytearray(
        request((ZERO, ONE, "refs/heads/a"), (ONE, TWO, "refs/tags/b"), capabilities="push-options")
    )
    body += line(b"o") + FLUSH + b"PACK"
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] = data.draw(st.integers(0, 255))
    try:
        parse(bytes(body[: data.draw(st.integers(0, len(body)))]))
    except PktError:
        return


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_packets_come_back_as_written(payloads: list[bytes]) -> None:
    stream = b"".join(map(line, payloads))
    assert list(packets(stream)) == payloads


def test_uppercase_length_is_read() -> None:
    assert read(b"000Axxxxxx") == (b"xxxxxx", 10)
