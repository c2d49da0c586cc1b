"""A load client: kept-alive GETs or one download over TLS, directly, through a proxy, or in a sandbox.

Runs as a script of its own with the system's Python (3.9 and the standard library). Prints one JSON object.
"""

import argparse
import json
import socket
import ssl
import statistics
import threading
import time

BLOCK = 1 << 18
PAIRS = 3
EVENT_ROUNDS = 20


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


def measure_beside_held(options: argparse.Namespace) -> dict[str, float]:
    """GETs a second beside `held` calls that wait, as a share of those without; the median of the pairs."""
    shares = []
    for _ in range(PAIRS):
        alone = measure_gets(options)["rate"]
        waiting = [connect(options) for _ in range(options.held)]
        for number, sock in enumerate(waiting):
            sock.sendall(request_of(options, f"/held/{number}").replace(b"GET ", b"DELETE ", 1))
        time.sleep(2 + options.held * 0.15)  # each is written to disk
        if any(is_answered(sock) for sock in waiting):
            raise SystemExit("a call was answered and does not wait")
        shares.append(measure_gets(options)["rate"] / alone)
        for sock in waiting:
            sock.close()
        time.sleep(2)
    return {"rate": statistics.median(shares)}


def is_answered(sock: ssl.SSLSocket) -> bool:
    """Whether data or the end came; records of TLS itself (session tickets) do not count."""
    sock.setblocking(False)
    try:
        sock.recv(1)
    except ssl.SSLWantReadError:
        return False
    return True


def measure_events(options: argparse.Namespace) -> dict[str, float]:
    """Milliseconds from a request for an event stream to its first event; the median."""
    taken = []
    request = request_of(options, "/events")
    for _ in range(EVENT_ROUNDS):
        with connect(options) as sock:
            started = time.perf_counter()
            sock.sendall(request)
            answer = b""
            while b"data:" not in answer:
                answer += sock.recv(BLOCK)
            taken.append((time.perf_counter() - started) * 1000)
    return {"rate": statistics.median(taken)}


def main() -> None:
    """Measure what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="NAME:PORT")
    parser.add_argument("--proxy", help="HOST:PORT that understands CONNECT")
    parser.add_argument("--cafile", help="whom to trust; default: the system's way")
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--download", type=int, metavar="MIB", help="measure one download of this size")
    parser.add_argument("--held", type=int, metavar="N", help="measure GETs beside so many waiting calls")
    parser.add_argument("--events", action="store_true", help="measure the time to an event stream's first")
    options = parser.parse_args()
    measure = (
        measure_download
        if options.download
        else measure_beside_held
        if options.held
        else measure_events
        if options.events
        else measure_gets
    )
    print(json.dumps(measure(options)))


if __name__ == "__main__":
    main()
