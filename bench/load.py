"""A load client: kept-alive GETs or one download over TLS, directly, through a proxy, or in a sandbox.

Runs as a script of its own with the system's Python (3.9 and the standard library). Prints one JSON object.
"""

import argparse
import json
import socket
import ssl
import threading
import time

BLOCK = 1 << 18


def connect(options: argparse.Namespace) -> ssl.SSLSocket:
    """A TLS connection to the named server, through the proxy if one is given."""
    host, port = (options.proxy or options.server).rsplit(":", 1)
    sock = socket.create_connection((host, int(port)), timeout=60)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if options.proxy:
        sock.sendall(b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n\r\n" % ((options.server.encode(),) * 2))
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += sock.recv(4096)
        if b" 200 " not in answer.split(b"\r\n")[0]:
            raise SystemExit(f"CONNECT was answered with {answer!r}")
    context = ssl.create_default_context(cafile=options.cafile)
    return context.wrap_socket(sock, server_hostname=options.server.rsplit(":", 1)[0])


def exchange(sock: ssl.SSLSocket, request: bytes, block: bytearray) -> int:
    """Send one request and read its whole answer; returns the number of body bytes."""
    sock.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = sock.recv(BLOCK)
        if not piece:
            raise SystemExit("the connection was closed")
        answer += piece
    head, _, rest = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise SystemExit(f"not 200: {head!r}")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    size = int(fields[b"content-length"])
    left = size - len(rest)
    while left:
        got = sock.recv_into(block)
        if not got:
            raise SystemExit("the answer ended early")
        left -= got
    return size


def gets(options: argparse.Namespace, begun: threading.Barrier, counts: list[int]) -> None:
    """Repeat a small GET on one connection; the time begins when all connections have had an answer."""
    request, block, count = request_of(options, "/"), bytearray(BLOCK), 0
    with connect(options) as sock:
        exchange(sock, request, block)
        begun.wait(60)
        deadline = time.perf_counter() + options.seconds
        while time.perf_counter() < deadline:
            exchange(sock, request, block)
            count += 1
    counts.append(count)


def request_of(options: argparse.Namespace, path: str) -> bytes:
    """The bytes of a GET."""
    host = options.server[:-4] if options.server.endswith(":443") else options.server
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: load\r\n\r\n".encode()


def measure_gets(options: argparse.Namespace) -> dict[str, float]:
    """GETs a second over all connections."""
    counts: list[int] = []
    begun = threading.Barrier(options.connections)
    threads = [
        threading.Thread(target=gets, args=(options, begun, counts)) for _ in range(options.connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(counts) < options.connections:
        raise SystemExit("a connection failed")
    return {"rate": sum(counts) / options.seconds}


def measure_download(options: argparse.Namespace) -> dict[str, float]:
    """MB (10^6 bytes) a second of one download."""
    with connect(options) as sock:
        started = time.perf_counter()
        size = exchange(sock, request_of(options, f"/big?mb={options.download}"), bytearray(BLOCK))
        return {"rate": size / 1e6 / (time.perf_counter() - started)}


def main() -> None:
    """Measure what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="NAME:PORT")
    parser.add_argument("--proxy", help="HOST:PORT that understands CONNECT")
    parser.add_argument("--cafile", help="whom to trust; default: the system's way")
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--download", type=int, metavar="MIB", help="measure one download of this size")
    options = parser.parse_args()
    print(json.dumps(measure_download(options) if options.download else measure_gets(options)))


if __name__ == "__main__":
    main()
