"""The descriptors bubblewrap is started with: exactly these, under fixed numbers."""

import os

import msgspec

from sandbox import bwrap
from sandbox.seccomp import filter_bytes
from sandbox.spec import Enclosure

ARGS, SECCOMP, INFO, FIRST_DATA = 5, 6, 7, 8


class Stdio(msgspec.Struct, frozen=True, kw_only=True):
    """Descriptors for the command inside; None is /dev/null.

    Give it pipes or the inner end of a pty made for it, never a descriptor of the person's: a file
    opened for reading can be opened anew for writing through /proc/self/fd, past every mount.
    """

    stdin: int | None = None
    stdout: int | None = None
    stderr: int | None = None


class Ours(msgspec.Struct, frozen=True, kw_only=True):
    """Our ends of bwrap's pipes: to read its own error output and --info-fd, and to let the command start."""

    words: int
    info: int
    gate: int


class Descriptors:
    """What bwrap gets, as number there -> number here; closed here on leaving."""

    def __init__(self, spec: Enclosure, stdio: Stdio) -> None:
        self._opened: list[int] = []
        try:
            self._open(spec, stdio)
        except BaseException:
            self.__exit__()
            raise

    def _open(self, spec: Enclosure, stdio: Stdio) -> None:
        data = bwrap.data_of(spec)
        numbers = bwrap.Descriptors(
            args=ARGS, seccomp=SECCOMP, info=INFO, data=tuple(range(FIRST_DATA, FIRST_DATA + len(data)))
        )
        nothing = self._keep(os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC))
        self._words, words = self._pipe()
        self._info, info = self._pipe()
        gate, self._gate = self._pipe()
        self.wanted = {
            0: nothing if stdio.stdin is None else stdio.stdin,
            1: nothing if stdio.stdout is None else stdio.stdout,
            2: words,
            bwrap.ENTRY_STDERR: nothing if stdio.stderr is None else stdio.stderr,
            bwrap.ENTRY_GATE: gate,
            ARGS: self._file(bwrap.args_file(spec, numbers)),
            SECCOMP: self._file(filter_bytes()),
            INFO: info,
            **{number: self._file(content) for number, content in zip(numbers.data, data, strict=True)},
        }

    def _keep(self, fd: int) -> int:
        self._opened.append(fd)
        return fd

    def _pipe(self) -> tuple[int, int]:
        reading, writing = os.pipe2(os.O_CLOEXEC)
        return self._keep(reading), self._keep(writing)

    def _file(self, content: bytes) -> int:
        return self._keep(memory_file(content))

    def take(self) -> Ours:
        """Our ends, now the caller's to close."""
        for fd in (self._words, self._info, self._gate):
            self._opened.remove(fd)
        return Ours(words=self._words, info=self._info, gate=self._gate)

    def __enter__(self) -> "Descriptors":
        return self

    def __exit__(self, *_: object) -> None:
        while self._opened:
            os.close(self._opened.pop())


def memory_file(content: bytes) -> int:
    """A descriptor from which `content` can be read."""
    fd = os.memfd_create("sekisho", os.MFD_CLOEXEC)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
