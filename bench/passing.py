"""Our proxy alone, as a process: every request passes. What the proxy costs without any deciding.

    python -m bench.passing AUTHORITY_FOLDER ROOTS_FILE NAME=ADDRESS:PORT...

Prints the port it listens on and ends when standard input does.
"""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from netpolicy.ports import Attempt, Body, Collect, Pass, Refuse
from netpolicy.proxy.ca import ensure
from netpolicy.proxy.listener import Kind, Listener
from netpolicy.proxy.names import Names
from netpolicy.proxy.proxy import Proxy
from netpolicy.proxy.resolver import Resolver
from netpolicy.proxy.settings import Settings
from netpolicy.request import Request


class PassAll:
    """Lets everything pass."""

    def preview(self, session: str, request: Request) -> Pass | Refuse | Collect:
        return Pass()

    async def rule(
        self, session: str, request: Request, body: Body, connected: Callable[[], bool] = lambda: True
    ) -> Pass | Refuse:
        return Pass()

    def finished(self, session: str, request: Request, status: int | None, received: int) -> None:
        pass

    def attempted(self, session: str, attempt: Attempt) -> None:
        pass


async def serve(authority: Path, roots: Path, pins: dict[str, str], spool: Path) -> None:
    """Serve one explicit-proxy socket until standard input ends."""
    settings = Settings(authority=ensure(authority).folder, roots=roots, spool=spool)
    proxy = Proxy(PassAll(), settings, Resolver(pins), lambda reason: print(reason, file=sys.stderr))
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    await proxy.add("bench", [Listener(Kind.EXPLICIT, listening)], Names(spool / "names", 100))
    print(listening.getsockname()[1], flush=True)

    def input_came() -> None:
        if not os.read(0, 1):
            proxy.stop()

    asyncio.get_running_loop().add_reader(0, input_came)
    await proxy.run()


def main() -> None:
    """Serve with what the arguments name."""
    authority, roots = Path(sys.argv[1]), Path(sys.argv[2])
    pins = dict(pair.split("=", 1) for pair in sys.argv[3:])
    with tempfile.TemporaryDirectory() as spool:
        asyncio.run(serve(authority, roots, pins, Path(spool)))


if __name__ == "__main__":
    main()
