"""Runs a tool as a child of the client and tells the gatekeeper how it ended (see protocol.py, "watch").

Loaded by client.py only when it is asked to watch. The child stays in the client's process group, so that
job control and the terminal's keys reach it as ever; what goes to a terminal goes there directly. Other
output passes through a pipe, of which the end is kept: there test runners print their summary. Python 3.9.
"""

import contextlib
import os
import select
import signal

OUTPUT = 64 * 1024  # bytes of a report
PATIENCE = 5.0  # seconds for the gatekeeper to put it on record
TURN = 100  # milliseconds between looks at a child that left its pipes to others
_KEYS = (signal.SIGINT, signal.SIGQUIT)
FORWARDED = (signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, *_KEYS)


class Flow:
    """A pipe that stands in for one or both outputs."""

    def __init__(self, target: int) -> None:
        self.reading, self.writing = os.pipe2(os.O_CLOEXEC)
        self.target = target


class Watch:
    """One run. `output` is the end of what was printed."""

    def __init__(self) -> None:
        self.output = b""
        self._child = 0
        self._raw = None  # type: int | None
        self._flows = {}  # type: dict[int, Flow]
        self._poll = select.poll()

    def run(self, tool: bytes, argv: "list[bytes]", environment: "dict[bytes, bytes]") -> int:
        """The wait status of the tool."""
        outputs = self._outputs()
        for number in FORWARDED:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._forward)
        self._child = os.fork()
        if not self._child:
            self._become(tool, argv, environment, outputs)
        for flow in set(outputs.values()):
            os.close(flow.writing)
            self._flows[flow.reading] = flow
            self._poll.register(flow.reading, select.POLLIN)
        return self._until_its_end()

    def _outputs(self) -> "dict[int, Flow]":
        """Descriptors that are no terminal, and their pipes; one for both where both are the same."""
        found = {}  # type: dict[int, Flow]
        places = {}  # type: dict[tuple[int, int], Flow]
        for descriptor in (1, 2):
            try:
                info = os.fstat(descriptor)
            except OSError:
                continue
            if not os.isatty(descriptor):
                place = (info.st_dev, info.st_ino)
                if place not in places:
                    places[place] = Flow(descriptor)
                found[descriptor] = places[place]
        return found

    def _become(
        self,
        tool: bytes,
        argv: "list[bytes]",
        environment: "dict[bytes, bytes]",
        outputs: "dict[int, Flow]",
    ) -> None:
        try:
            # Python itself ignores the last two.
            for number in (*FORWARDED, signal.SIGPIPE, signal.SIGXFSZ):
                if number not in FORWARDED or signal.getsignal(number) != signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL)
            for descriptor, flow in outputs.items():
                os.dup2(flow.writing, descriptor)
            os.execve(tool, argv, environment)
        except OSError as error:
            os.write(2, b"sekisho: " + tool + b": " + (error.strerror or "cannot be run").encode() + b"\n")
        finally:
            os._exit(126)

    def _forward(self, number: int, _frame: object) -> None:
        if self._child and not (number in _KEYS and _in_foreground()):
            with contextlib.suppress(OSError):
                os.kill(self._child, number)

    def _until_its_end(self) -> int:
        while self._flows:
            ready = self._poll.poll(TURN)
            for descriptor, _events in ready:
                self._copy(self._flows[descriptor])
            if self._raw is not None and not ready:
                break
            self._look(os.WNOHANG)
        while self._raw is None:
            self._look(0)
        if self._flows:
            self._leave()
        return self._raw

    def _look(self, options: int) -> None:
        if self._raw is not None:
            return
        found, raw = os.waitpid(self._child, options | os.WUNTRACED)
        if found and not os.WIFSTOPPED(raw):
            self._raw = raw
        elif found and os.WSTOPSIG(raw) == signal.SIGSTOP:
            # What the terminal stops it stops as a group: this process, too.
            os.kill(os.getpid(), signal.SIGSTOP)
            os.kill(self._child, signal.SIGCONT)

    def _copy(self, flow: Flow) -> None:
        piece = os.read(flow.reading, 65536)
        self.output = (self.output + piece)[-OUTPUT:]
        # Nobody reads any more: closing our end lets the tool see it, as in any pipeline.
        if not piece or not _write(flow.target, piece):
            self._poll.unregister(flow.reading)
            os.close(flow.reading)
            del self._flows[flow.reading]

    def _leave(self) -> None:
        """What the tool left running may print on; that must not keep who waits for the tool."""
        if os.fork():
            return
        while self._flows:
            for descriptor, _events in self._poll.poll():
                self._copy(self._flows[descriptor])
        os._exit(0)


def watch(tool: bytes, argv: "list[bytes]", environment: "dict[bytes, bytes]", connection: object) -> int:
    """Run the tool and report; the status to exit with. A signal that ended it ends this process, too."""
    running = Watch()
    raw = running.run(tool, argv, environment)
    number = os.WTERMSIG(raw) if os.WIFSIGNALED(raw) else 0
    status = 128 + number if number else os.WEXITSTATUS(raw)
    fields = [b"1", b"ended", b"%d" % status, running.output.replace(b"\0", b"")]
    payload = b"\0".join(fields) + b"\0"
    with contextlib.suppress(OSError):
        connection.settimeout(PATIENCE)  # type: ignore[attr-defined]
        connection.sendall(b"%d:%s," % (len(payload), payload))  # type: ignore[attr-defined]
        connection.recv(1)  # type: ignore[attr-defined]
    if number:
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return status


def _in_foreground() -> bool:
    """Whether the terminal's keys reach this process group, and so the child already."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _write(descriptor: int, data: bytes) -> bool:
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            waiting = select.poll()
            waiting.register(descriptor, select.POLLOUT)
            waiting.poll()
        except OSError:
            return False
    return True
