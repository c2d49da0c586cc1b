"""Listening, ending and counting on TCP sockets."""

import contextlib
import socket
import struct

# The peer's FIN counts as one byte in `tcpi_bytes_received`; in these states it has come
# (TIME_WAIT, CLOSE_WAIT, LAST_ACK, CLOSING in linux/tcp_states.h).
_PEER_HAS_FINISHED = frozenset({6, 8, 9, 11})


def listen(address: str, port: int) -> socket.socket:
    """A listening IPv4 socket. Protocol 6 by name, so that whoever looks finds it to be TCP."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


def shut(sock: socket.socket) -> None:
    """End both directions; whoever waits on the socket wakes up."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def bytes_received(sock: socket.socket) -> int:
    """Payload bytes as the kernel counted them (`tcpi_bytes_received`, linux/tcp.h).

    Exact until this side shuts the socket down. Raises OSError once it is closed.
    """
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    (received,) = struct.unpack_from("Q", info, 128)
    return int(received) - (info[0] in _PEER_HAS_FINISHED)
