"""Prepare a session's network namespace, then listen in it. Runs in a child with one thread.

Everything is made before bubblewrap starts, so that no process inside ever holds a capability over
the namespace; the same code serves root and an ordinary user.
"""

import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Iterator

from sandbox import netlink

HTTP, HTTPS, PROXY, DNS = 80, 443, 3128, 53
SO_ATTACH_FILTER = 26
ETH_P_IP = 0x0800


class StepError(Exception):
    """A step failed: its name and errno travel to the launcher, which knows what to say."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(step, number)
        self.step, self.number = step, number


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Name what happens inside, for the one who is told that it failed."""
    try:
        yield
    except OSError as failure:
        raise StepError(name, failure.errno or 0) from failure


def local_name(port: int) -> str:
    """The name of the listener for a port of the person's machine."""
    return f"local-{port}"


def prepare(ports: tuple[int, ...] = ()) -> dict[str, socket.socket]:
    """Enter a new user and network namespace for good, and open the session's sockets there.

    The sockets: "http" and "https" (TCP, every IPv4 address), "proxy" (TCP, 127.0.0.1:3128), "dns"
    (UDP, 127.0.0.1:53), "packets" (a packet socket, see netlink.first_packets_filter), and
    `local_name(port)` on 127.0.0.1 for each of `ports`. Raises StepError.
    """
    _enter_namespaces()
    _configure()
    with step("listen"):
        sockets = {
            "http": _listener("0.0.0.0", HTTP),
            "https": _listener("0.0.0.0", HTTPS),
            "proxy": _listener("127.0.0.1", PROXY),
            "dns": _datagrams("127.0.0.1", DNS),
        }
        for port in dict.fromkeys(ports):
            sockets[local_name(port)] = _listener("127.0.0.1", port)
    with step("packet socket"):
        sockets["packets"] = _first_packets()
    return sockets


def _enter_namespaces() -> None:
    uid, gid = os.geteuid(), os.getegid()
    with step("unshare"):
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
    # Also as root: without it the kernel refuses gid_map to a process without capabilities outside.
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with step(name):
            _write(f"/proc/self/{name}", text)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _configure() -> None:
    with step("netlink"), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
        index = socket.if_nametoindex("lo")
        link.bind((0, 0))
        for message in (
            netlink.link_up(index),
            netlink.own_address(index),
            netlink.route_everything_here(index),
        ):
            link.send(message)
            number = netlink.error_of(link.recv(4096))
            if number:
                raise OSError(number, os.strerror(number))


def _listener(address: str, port: int) -> socket.socket:
    # Protocol 6 by number: with 0, asyncio leaves Nagle on for what is accepted, and every request
    # waits 48 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind((address, port))
    listener.listen(512)
    listener.setblocking(False)
    return listener


def _datagrams(address: str, port: int) -> socket.socket:
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_UDP)
    datagrams.bind((address, port))
    datagrams.setblocking(False)
    return datagrams


def _first_packets() -> socket.socket:
    """Bound to no protocol until the filter stands, so that nothing unfiltered is ever queued."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    program = netlink.first_packets_filter((HTTP, HTTPS))
    held = ctypes.create_string_buffer(program, len(program))
    packets.setsockopt(
        socket.SOL_SOCKET,
        SO_ATTACH_FILTER,
        struct.pack("@HP", len(program) // 8, ctypes.addressof(held)),
    )
    packets.bind(("lo", ETH_P_IP))
    packets.setblocking(False)
    return packets
