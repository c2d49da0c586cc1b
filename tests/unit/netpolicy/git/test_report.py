import pytest

from netpolicy.git.advertise import to_receive_pack
from netpolicy.git.pktline import FLUSH, PktError, line, packets
from netpolicy.git.receive import Command, Push
from netpolicy.git.report import rejection

ONE = "1" * 40
COMMAND = Command(old="0" * 40, new=ONE, ref="refs/heads/main")


def push(capabilities: str, commands: tuple[Command, ...] = (COMMAND,)) -> Push:
    return Push(commands=commands, capabilities=capabilities)


def test_without_side_band_the_report_stands_alone() -> None:
    assert list(packets(rejection(push("report-status"), "held"))) == [
        b"unpack ok\n",
        b"ng refs/heads/main held\n",
        FLUSH,
    ]


def test_without_report_status_only_the_lines_are_sent() -> None:
    lines = list(packets(rejection(push("side-band-64k"), "held", remote=["why"])))
    assert lines == [b"\x02why\n", FLUSH]
    assert rejection(push(""), "held", remote=["why"]) == b""


def test_small_side_band_keeps_its_limit() -> None:
    commands = tuple(Command(old="0" * 40, new=ONE, ref=f"refs/heads/{'x' * 80}-{n}") for n in range(50))
    lines = list(packets(rejection(push("report-status side-band", commands), "held")))
    assert len(lines) > 2
    assert max(map(len, lines)) <= 995
    report = b"".join(payload[1:] for payload in lines[:-1])
    assert report.count(b"ng refs/heads/") == 50


def test_reason_cannot_break_out_of_its_line() -> None:
    body = rejection(push("report-status"), "a\nok refs/heads/main\x1b[2J\r\nb")
    assert list(packets(body))[1] == b"ng refs/heads/main a ok refs/heads/main [2J b\n"


def test_refs_may_have_reasons_of_their_own() -> None:
    body = rejection(push("report-status-v2"), "held", reasons={"refs/heads/main": "denied"})
    assert b"ng refs/heads/main denied" in body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>login</html>",
        line(b"# service=git-receive-pack\n") + FLUSH + FLUSH,
        line(b"# service=git-upload-pack\n") + FLUSH + line(b"version 2\n") + FLUSH,
        line(b"# service=git-upload-pack\n") + FLUSH + line(b"ERR no such repository"),
        line(b"# service=git-upload-pack\n") + FLUSH + line(ONE.encode() + b" refs/heads/a\x00x") + b"00",
        line(b"# service=git-upload-pack\n")
        + FLUSH
        + line(ONE.encode() + b" refs/heads/a\x00x")
        + FLUSH
        + b"0004",
    ],
)
def test_anything_but_a_fetch_advertisement_is_refused(body: bytes) -> None:
    with pytest.raises(PktError):
        to_receive_pack(body)


def test_head_and_peeled_entries_are_left_out() -> None:
    oid = ONE.encode()
    body = line(b"# service=git-upload-pack\n") + FLUSH + line(oid + b" HEAD\x00multi_ack object-format=sha1")
    body += line(oid + b" refs/heads/main\n") + line(oid + b" refs/tags/v1^{}\n") + FLUSH
    lines = list(packets(to_receive_pack(body)))
    assert lines[2].startswith(oid + b" refs/heads/main\x00report-status ")
    assert lines[3:] == [FLUSH]
