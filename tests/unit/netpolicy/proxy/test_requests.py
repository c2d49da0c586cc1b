"""Ordinary traffic through the proxy: what the gatekeeper sees, what the upstream gets."""

import asyncio
from pathlib import Path

import pytest

from netpolicy.ports import Body, Collect, Pass, Refuse, Reply
from netpolicy.request import Request
from tests.unit.netpolicy.proxy.lab import HOST, Lab, ToyGate, echo, get, lab, put, read_request, response


def test_request_is_reported_as_it_stood_on_the_wire(tmp_path: Path) -> None:
    async def main() -> Request:
        async with lab(tmp_path) as site:
            await site.ask(b"geT /a?b=%2F HTTP/1.1\r\nHOST: up.test\r\nX-A: 1\r\nx-a:  2 \r\n\r\n")
            return site.gate.seen[0]

    assert asyncio.run(main()) == Request(
        method="geT",
        scheme="https",
        host=HOST,
        port=443,
        path="/a?b=%2F",
        headers=(("HOST", "up.test"), ("X-A", "1"), ("x-a", "2")),
        body_size=0,
        connect="up.test:443",
        sni="up.test",
    )


def test_plain_request_reports_its_authority_and_leaves_in_origin_form(tmp_path: Path) -> None:
    async def main() -> tuple[Request, bytes, int]:
        async with lab(tmp_path, tls=False) as site:
            reader, writer = await site.connect()
            writer.write(
                b"GET http://up.test/x HTTP/1.1\r\nHost: up.test\r\nProxy-Connection: keep-alive\r\n\r\n"
            )
            status, _, _ = await response(reader)
            writer.close()
            return site.gate.seen[0], bytes(site.upstream.received), status

    request, received, status = asyncio.run(main())
    assert status == 200
    assert (request.host, request.authority, request.connect, request.sni) == (HOST, "up.test", None, None)
    assert received == b"GET /x HTTP/1.1\r\nHost: up.test\r\n\r\n"


def test_disagreeing_names_reach_the_decider(tmp_path: Path) -> None:
    async def main() -> Request:
        async with lab(tmp_path) as site:
            reader, writer = await site.tunnel(sni="other.test")
            writer.write(b"GET https://third.test/ HTTP/1.1\r\nHost: fourth.test\r\n\r\n")
            await response(reader)
            writer.close()
            return site.gate.seen[0]

    request = asyncio.run(main())
    assert (request.connect, request.host, request.sni, request.authority, request.header("host")) == (
        "up.test:443",
        HOST,
        "other.test",
        "third.test",
        "fourth.test",
    )


def test_upstream_certificate_is_checked_against_the_judged_name(tmp_path: Path) -> None:
    async def main() -> tuple[int, bytes]:
        async with lab(tmp_path) as site:
            site.proxy.resolver._pinned["wrong.test"] = ("127.0.0.1", site.upstream.port)
            reader, writer = await site.tunnel("wrong.test", sni=HOST)
            writer.write(get(host="wrong.test"))
            status, _, body = await response(reader)
            writer.close()
            return status, body

    status, body = asyncio.run(main())
    assert status == 502
    assert b"ertificate" in body


def test_connection_to_the_upstream_is_used_again(tmp_path: Path) -> None:
    async def main() -> int:
        async with lab(tmp_path) as site:
            reader, writer = await site.tunnel()
            for _ in range(5):
                writer.write(get())
                assert (await response(reader))[0] == 200
            writer.close()
            return site.upstream.connections

    assert asyncio.run(main()) == 1


def test_credential_replaces_the_placeholder(tmp_path: Path) -> None:
    gate = ToyGate(previews=lambda request: Pass(headers=(("Authorization", "Bearer real"),)))

    async def main() -> bytes:
        async with lab(tmp_path, gate=gate) as site:
            await site.ask(get("/", HOST, "authorization: Bearer placeholder"))
            return bytes(site.upstream.received)

    received = asyncio.run(main())
    assert b"Bearer real" in received
    assert b"placeholder" not in received


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("collected", [False, True])
@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_body_arrives_whole(tmp_path: Path, chunked: bool, collected: bool, size: int) -> None:
    gate = ToyGate(previews=lambda request: Collect(limit=4_000_000) if collected else Pass())

    async def main() -> tuple[int, bytes, bytes]:
        async with lab(tmp_path, gate=gate) as site:
            found = await site.ask(put(b"x" * size, chunked=chunked))
            assert not site.spool.exists() or not list(site.spool.iterdir())
            return found

    status, _, body = asyncio.run(main())
    assert (status, body) == (200, b"%d" % size)
    assert [body.size for body in gate.bodies] == ([size] if collected else [])
    assert [(request.body_size, status) for request, status, _ in gate.ended] == [(size, 200)]


def test_ruling_sees_the_body_and_its_digest(tmp_path: Path) -> None:
    refusal = Refuse(reply=Reply(status=403, reason="held: H-1", body=b"held\n"))
    gate = ToyGate(previews=lambda request: Collect(limit=100), rules=lambda request, body: refusal)

    async def main() -> tuple[tuple[int, bytes, bytes], bytes]:
        async with lab(tmp_path, gate=gate) as site:
            return await site.ask(put(b"abc")), bytes(site.upstream.received)

    (status, head, body), received = asyncio.run(main())
    assert (status, body, received) == (403, b"held\n", b"")
    assert head.startswith(b"HTTP/1.1 403 held: H-1\r\n")
    assert gate.bodies == [
        Body(
            size=3,
            sha256="ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            data=b"abc",
        )
    ]


def test_large_body_is_spooled_for_the_owner_only_and_may_be_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    modes: list[int] = []

    def rules(request: Request, body: Body) -> Pass:
        assert body.path is not None
        assert body.data is None
        modes.append(body.path.stat().st_mode & 0o777)
        body.path.rename(kept)
        return Pass()

    gate = ToyGate(previews=lambda request: Collect(limit=10_000_000), rules=rules)

    async def main() -> bytes:
        async with lab(tmp_path, gate=gate) as site:
            return (await site.ask(put(b"y" * 2_000_000)))[2]

    assert asyncio.run(main()) == b"2000000"
    assert modes == [0o600]
    assert kept.stat().st_size == 2_000_000


def test_expect_continue_is_answered_once_the_body_is_wanted(tmp_path: Path) -> None:
    gate = ToyGate(previews=lambda request: Collect(limit=100))

    async def main() -> tuple[bytes, int]:
        async with lab(tmp_path, gate=gate) as site:
            reader, writer = await site.tunnel()
            writer.write(
                b"PUT / HTTP/1.1\r\nHost: up.test\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
            )
            interim = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"abc")
            status, _, _ = await response(reader)
            writer.close()
            return interim, status

    interim, status = asyncio.run(main())
    assert interim.startswith(b"HTTP/1.1 100")
    assert status == 200


def test_interim_answers_of_the_upstream_are_not_taken_for_the_final_one(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()

    async def main() -> tuple[int, bytes, bytes]:
        async with lab(tmp_path, serve) as site:
            return await site.ask(get())

    status, _, body = asyncio.run(main())
    assert (status, body) == (200, b"ok")


def test_event_stream_arrives_event_by_event(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        await writer.drain()
        await go.wait()  # set by the client after it has seen the first event
        writer.write(b"data: 2\n\n")
        await writer.drain()

    async def main() -> bytes:
        async with lab(tmp_path, serve) as site:
            reader, writer = await site.tunnel()
            writer.write(get())
            first = await asyncio.wait_for(reader.readuntil(b"data: 1\n\n"), 5)
            go.set()
            rest = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            return first + rest

    assert asyncio.run(main()).endswith(b"data: 1\n\ndata: 2\n\n")


def test_named_port_leads_to_its_target_and_is_marked(tmp_path: Path) -> None:
    from netpolicy.proxy.listener import Kind, Listener
    from tests.unit.netpolicy.proxy.lab import bound

    async def main() -> tuple[int, Request]:
        model = await asyncio.start_server(echo, "127.0.0.1", 0)
        target = model.sockets[0].getsockname()[:2]
        inside = Listener(Kind.PORT, bound(), target)
        async with lab(tmp_path, listeners=[inside]) as site:
            port = inside.socket.getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(get(host="localhost"))
            status, _, _ = await response(reader)
            writer.close()
            model.close()
            return status, site.gate.seen[0]

    status, request = asyncio.run(main())
    assert (status, request.host, request.local) == (200, "127.0.0.1", True)


def pkt(text: str) -> bytes:
    return b"%04x%s" % (len(text) + 4, text.encode())


def test_advertisement_is_fetched_as_a_read_and_turned(tmp_path: Path) -> None:
    path = "/r.git/info/refs?service=git-upload-pack"
    gate = ToyGate(previews=lambda request: Pass(path=path, advertise=True))
    refs = f"{'a' * 40} HEAD\0multi_ack symref=HEAD:refs/heads/main\n", f"{'a' * 40} refs/heads/main\n"
    read = pkt("# service=git-upload-pack\n") + b"0000" + b"".join(map(pkt, refs)) + b"0000"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(read), read)
        )
        await writer.drain()

    async def main() -> tuple[tuple[int, bytes, bytes], bytes]:
        async with lab(tmp_path, serve, gate=gate) as site:
            asked = get("/r.git/info/refs?service=git-receive-pack", HOST, "Git-Protocol: version=2")
            return await site.ask(asked), bytes(site.upstream.received)

    (status, head, body), received = asyncio.run(main())
    assert status == 200
    assert body.startswith(pkt("# service=git-receive-pack\n"))
    assert b"report-status" in body
    assert b"refs/heads/main" in body
    assert b"application/x-git-receive-pack-advertisement" in head
    assert received.startswith(b"GET " + path.encode() + b" HTTP/1.1\r\n")
    assert b"Git-Protocol" not in received


def test_advertisement_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    gate = ToyGate(previews=lambda request: Pass(advertise=True))

    async def main() -> tuple[int, bytes, list[str]]:
        async with lab(tmp_path, gate=gate) as site:  # answers with a number
            status, head, _ = await site.ask(get())
            return status, head, site.faults

    status, head, faults = asyncio.run(main())
    assert status == 403
    assert b"advertisement-unreadable" in head
    assert faults


def test_sessions_come_and_go_while_the_proxy_runs(tmp_path: Path) -> None:
    from netpolicy.proxy.listener import Kind, Listener
    from netpolicy.proxy.names import Names
    from tests.unit.netpolicy.proxy.lab import bound

    async def main() -> list[str]:
        async with lab(tmp_path) as site:
            second = Listener(Kind.EXPLICIT, bound())
            port = second.socket.getsockname()[1]
            await site.proxy.add("s2", [second], Names(tmp_path / "names2", 10))
            other = Lab(**(vars(site) | {"port": port}))
            reader, writer = await other.tunnel()
            writer.write(get())
            await response(reader)
            await site.ask(get())
            await site.proxy.remove("s2")
            assert await reader.read() == b""  # its connection ended with it
            with pytest.raises(OSError, match=r"."):
                await other.connect()
            assert (await site.ask(get()))[0] == 200
            return site.gate.sessions

    assert asyncio.run(main()) == ["s2", "s1", "s1"]
