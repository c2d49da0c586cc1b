"""A throwaway sandbox that stays for several commands, one after another.

Making a sandbox costs as much as ten small gits. Between commands nothing is reset: what one leaves
behind, the next may find. So a room is for questions about one and the same thing, and is worth no more trust
than the worst that its commands read.

The protocol, on the standard input and output of a shell inside. A request: the number of words, the number
of bytes of standard input, each word on a line of its own in the escapes of printf's %b, then that input.
A reply: the exit status, the numbers of bytes on standard output and error, each on a line, then both.
"""

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

from sandbox.errors import from_bwrap
from sandbox.exchange import OutputLimitExceeded
from sandbox.inner import InnerInit
from sandbox.spec import Mount, MountKind
from sandbox.throwaway import PathLike, enclosure, started

# Fixed: requests are read as data. What a command may read is its own input, nothing of the next request.
RUNNER = r"""
echo ready
while IFS= read -r words && IFS= read -r bytes; do
    set --
    while [ "$words" -gt 0 ]; do
        IFS= read -r word
        case $word in *\\*) word=$(printf '%b.' "$word"); word=${word%.} ;; esac
        set -- "$@" "$word"
        words=$((words - 1))
    done
    if [ "$bytes" -gt 0 ]; then head -c "$bytes" >/tmp/.in; else : >/tmp/.in; fi
    "$@" </tmp/.in >/answers/out 2>/answers/err
    echo $?
    stat -c %s /answers/out /answers/err
    cat /answers/out /answers/err
done
"""
_CHUNK = 1 << 16
_HEADER = 3  # lines
_LONGEST_HEADER = 100  # bytes
_LAST_WORDS = 1.0  # seconds in which what a broken start says is waited for
_START = 60.0  # seconds until it is there
LARGEST_ANSWER = 64 << 20  # bytes of one output
# Memory of this machine: what says more than it may ends there, with no space left. Half is for the errors.
_ANSWERS = Mount(kind=MountKind.TMPFS, target="/answers", size=2 * LARGEST_ANSWER, mode=0o700)


class RoomBroken(Exception):
    """What is inside does not answer as it should; nothing more can be asked."""


class Room:
    """Asks the runner of a sandbox that is up, as long as it is `usable`. Not for two threads at once."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input: IO[bytes] = process.stdin
        self._output: IO[bytes] = process.stdout
        os.set_blocking(self._input.fileno(), False)
        self._taken = bytearray()
        self.usable = True

    def ready(self) -> bool:
        """Waits until the runner is there; False where something ended instead."""
        try:
            return self._line(time.monotonic() + _START) == b"ready"
        except (RoomBroken, TimeoutError):
            return False

    def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 60, limit: int = LARGEST_ANSWER
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a command; `timeout` in seconds, at most `limit` bytes on each output (LARGEST_ANSWER if less).

        Raises subprocess.TimeoutExpired, OutputLimitExceeded and RoomBroken; after any of them the room is
        of no more use.
        """
        if not self.usable:
            raise RoomBroken("an earlier command left it in no usable state")
        self.usable = False  # else the rest of an answer would be taken for the next one
        deadline = time.monotonic() + timeout
        try:
            self._send(request(argv, stdin), deadline)
            status, out, err = (self._number(deadline) for _ in range(_HEADER))
            if max(out, err) > (most := min(limit, LARGEST_ANSWER)):
                raise OutputLimitExceeded(f"more than {most} bytes")
            content = self._exactly(out + err, deadline)
        except TimeoutError:
            raise subprocess.TimeoutExpired(list(argv), timeout) from None
        self.usable = True
        return subprocess.CompletedProcess(list(argv), status, content[:out], content[out:])

    def _send(self, data: bytes, deadline: float) -> None:
        unsent = memoryview(data)
        while unsent:
            _wait(self._input, select.POLLOUT, deadline)
            try:
                unsent = unsent[os.write(self._input.fileno(), unsent[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise RoomBroken("it is gone") from None

    def _number(self, deadline: float) -> int:
        line = self._line(deadline).strip()
        if not line.isdigit():
            raise RoomBroken(f"it answered {line[:20]!r}")
        return int(line)

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._taken:
            if len(self._taken) > _LONGEST_HEADER or not self._more(deadline):
                raise RoomBroken("its answer has no end")
        line, _, rest = self._taken.partition(b"\n")
        self._taken = rest
        return bytes(line)

    def _exactly(self, size: int, deadline: float) -> bytes:
        while len(self._taken) < size:
            if not self._more(deadline):
                raise RoomBroken("its answer is cut off")
        content, self._taken = bytes(self._taken[:size]), self._taken[size:]
        return content

    def _more(self, deadline: float) -> bool:
        """Take what has come; False at its end."""
        _wait(self._output, select.POLLIN, deadline)
        piece = os.read(self._output.fileno(), _CHUNK)
        self._taken += piece
        return bool(piece)


def request(argv: Sequence[str], stdin: bytes) -> bytes:
    """The bytes of a request. ValueError for a word with a NUL byte, which no command can take."""
    if any("\0" in word for word in argv):
        raise ValueError("a NUL byte would end a word early")
    escaped = (word.replace("\\", "\\\\").replace("\n", "\\n") for word in argv)
    words = b"".join(os.fsencode(word) + b"\n" for word in escaped)
    return b"%d\n%d\n" % (len(argv), len(stdin)) + words + stdin


@contextmanager
def entered(
    *,
    ro: Sequence[PathLike] = (),
    rw: Sequence[PathLike] = (),
    cwd: PathLike,
    env: Mapping[str, str] | None = None,
) -> Iterator[Room]:
    """A block with a room; the parameters are those of `throwaway.run`. Nothing is left of it afterwards.

    Raises EnclosureError where it could not be made.
    """
    runner = ("/bin/sh", "-c", RUNNER, "sekisho")
    spec = enclosure(runner, ro=ro, rw=rw, cwd=cwd, env=env, mounts=(_ANSWERS,))
    with started(spec) as (process, status_fd):
        inner: InnerInit | None = None
        room = Room(process)
        try:
            if not room.ready():
                process.kill()  # nothing where it has ended by itself
                raise from_bwrap(_last_words(process), process.wait())
            # Reported before anything is executed inside.
            report = json.loads(os.read(status_fd, _CHUNK).split(b"\n")[0])
            inner = InnerInit(report["child-pid"], process.pid)
            yield room
        finally:
            process.kill()
            process.wait()
            if inner is not None:
                inner.end()


def _last_words(process: "subprocess.Popen[bytes]") -> str:
    assert process.stderr is not None
    said = b""
    # What it started may hold the pipe open after it.
    while len(said) < _CHUNK and select.select([process.stderr], [], [], _LAST_WORDS)[0]:
        if not (piece := os.read(process.stderr.fileno(), _CHUNK)):
            break
        said += piece
    return said.decode(errors="replace")


def _wait(pipe: IO[bytes], event: int, deadline: float) -> None:
    """Raises TimeoutError at the deadline of the monotonic clock."""
    poll = select.poll()
    poll.register(pipe, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError
