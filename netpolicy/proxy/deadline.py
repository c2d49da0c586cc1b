"""Time limits of a connection: for what its client owes, and for the upstream's handshake."""

import asyncio
from collections.abc import Callable

from mitmproxy.connection import Server


class Deadline:
    """The one thing that is being waited for from the client."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float, late: Callable[[], None]) -> None:
        """Wait for something else from now on; `late` is called once that is overdue."""
        self.clear()
        self._timer = asyncio.get_running_loop().call_later(seconds, late)

    def clear(self) -> None:
        """It came."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def watch_handshake(server: Server, seconds: float) -> Deadline:
    """Cancel the current task if there is no TLS by then."""
    deadline, task = Deadline(), asyncio.current_task()

    def give_up() -> None:
        if not server.tls_established and task is not None:
            task.cancel("no TLS handshake")

    if server.tls:
        deadline.set(seconds, give_up)
    return deadline
