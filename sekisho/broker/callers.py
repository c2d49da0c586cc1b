"""Who connects to the agent's socket: each says one request, and is handed on with it.

A build connects thousands of times for a few bytes each. A caller whose request is there when it is accepted,
as nearly all are, costs no transport, no timer and no further turn of the loop.
"""

import asyncio
import socket
from collections.abc import Callable

from shim.protocol import Malformed, payload_in

PATIENCE = 5.0  # seconds for a caller to send its whole request, and to take its answer
MOST_SILENT = 512  # callers that have not said what they want; beyond, the oldest is dropped
AT_ONCE = 8  # accepted in one turn of the loop, which serves the network, too
PAUSE = 1.0  # seconds after the system had no descriptor left
_CHUNK = 1 << 16

# Gets a payload and its connection, which it is to close.
Heard = Callable[[bytes, socket.socket], None]


class Callers:
    """Accepts on a listening Unix socket until closed. To be made inside the loop that serves it."""

    def __init__(self, listener: socket.socket, heard: Heard) -> None:
        self.heard = heard
        self.loop = asyncio.get_running_loop()
        self.silent: dict[_Silent, None] = {}
        self._listener = listener
        listener.setblocking(False)
        self._resume()

    def close(self) -> None:
        """Accept no more. The socket's file stays: it is the next gatekeeper's, too."""
        self.loop.remove_reader(self._listener)
        self._listener.close()
        for one in tuple(self.silent):
            one.drop()

    def _resume(self) -> None:
        if self._listener.fileno() >= 0:
            self.loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                caller, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                # What cannot be accepted stays in the queue, and would wake the loop without end.
                self.loop.remove_reader(self._listener)
                self.loop.call_later(PAUSE, self._resume)
                return
            self._begin(caller)

    def _begin(self, caller: socket.socket) -> None:
        try:
            received, payload = _said(caller, b"")
        except (OSError, Malformed):
            caller.close()
            return
        if payload is not None:
            self.heard(payload, caller)
            return
        self.silent[_Silent(self, caller, received)] = None
        if len(self.silent) > MOST_SILENT:
            next(iter(self.silent)).drop()


class _Silent:
    """A caller whose request is not whole yet."""

    def __init__(self, callers: Callers, caller: socket.socket, received: bytes) -> None:
        self._callers, self._caller, self._received = callers, caller, received
        self._late = callers.loop.call_later(PATIENCE, self.drop)
        callers.loop.add_reader(caller, self._more)

    def drop(self) -> None:
        """End it without a word: it judges by its own table."""
        self._leave()
        self._caller.close()

    def _leave(self) -> None:
        self._late.cancel()
        self._callers.silent.pop(self, None)
        self._callers.loop.remove_reader(self._caller)

    def _more(self) -> None:
        try:
            self._received, payload = _said(self._caller, self._received)
        except (OSError, Malformed):
            self.drop()
            return
        if payload is not None:
            self._leave()
            self._callers.heard(payload, self._caller)


def _said(caller: socket.socket, before: bytes) -> tuple[bytes, bytes | None]:
    """What a caller has said by now, and the payload once its request is whole.

    Raises OSError or Malformed where no request can follow.
    """
    try:
        said = caller.recv(_CHUNK, socket.MSG_DONTWAIT)
    except (BlockingIOError, InterruptedError):
        return before, None
    if not said:
        raise Malformed("it ended before its request did")
    received = before + said
    found = payload_in(received)
    return received, None if found is None else found[0]


def tell(caller: socket.socket, answer: bytes) -> bytes:
    """Send what can be sent at once; gives back the rest. Raises OSError for a caller that is gone."""
    try:
        return answer[caller.send(answer, socket.MSG_DONTWAIT) :]
    except (BlockingIOError, InterruptedError):
        return answer


async def tell_all(caller: socket.socket, answer: bytes) -> None:
    """Send an answer. Raises OSError or TimeoutError for a caller that does not take it."""
    if rest := tell(caller, answer):
        caller.setblocking(False)
        async with asyncio.timeout(PATIENCE):
            await asyncio.get_running_loop().sock_sendall(caller, rest)
