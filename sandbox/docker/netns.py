"""The session's sockets, made in the network namespace the calling thread stands in.

Standard library and sandbox.network only: it also runs as a program in the helper container.
"""

import json
import socket
import sys

from sandbox import network

EVERYTHING = 253  # descriptors in one message, the kernel's limit


def open_sockets(ports: tuple[int, ...] = ()) -> dict[str, socket.socket]:
    """Loopback up, every address routed to it, and the sockets that `network.prepare` describes.

    Raises network.StepError.
    """
    network._configure()
    with network.step("listen"):
        sockets = {
            "http": network._listener("0.0.0.0", network.HTTP),
            "https": network._listener("0.0.0.0", network.HTTPS),
            "proxy": network._listener("127.0.0.1", network.PROXY),
            "dns": network._datagrams("127.0.0.1", network.DNS),
        }
        for port in dict.fromkeys(ports):
            sockets[network.local_name(port)] = network._listener("127.0.0.1", port)
    with network.step("packet socket"):
        sockets["packets"] = network._first_packets()
    return sockets


def send(path: str, ports: tuple[int, ...]) -> None:
    """Make the sockets and send them to the socket at `path`: names, or the step that failed, as JSON."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
        channel.connect(path)
        try:
            sockets = open_sockets(ports)
        except network.StepError as failed:
            channel.send(json.dumps({"step": failed.step, "errno": failed.number}).encode())
            return
        names = json.dumps({"sockets": list(sockets)}).encode()
        socket.send_fds(channel, [names], [held.fileno() for held in sockets.values()])


def receive(channel: socket.socket) -> dict[str, socket.socket]:
    """What `send` sent. Raises network.StepError, and EOFError when nothing came."""
    message, fds, _, _ = socket.recv_fds(channel, 65536, EVERYTHING)
    held = [socket.socket(fileno=fd) for fd in fds]
    if not message:
        raise EOFError("the helper ended without a word")
    answer = json.loads(message)
    if "step" in answer:
        raise network.StepError(answer["step"], answer["errno"])
    return dict(zip(answer["sockets"], held, strict=True))


def main() -> None:
    """The helper's program: the path of the socket, then ports."""
    send(sys.argv[1], tuple(int(port) for port in sys.argv[2:]))
