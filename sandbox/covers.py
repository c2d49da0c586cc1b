"""Sees when something that is covered inside is replaced outside.

A cover is a mount on a file or folder of the person's: a hidden file of a tree that is worked in in
place, a login in a folder of tools. Linux takes such a mount away in every namespace once a program
outside renames another file over it, or removes it (since 3.18, see rename(2) and EBUSY): what lies there
afterwards is open inside. Inside, nobody can do that: what is a mount point there is busy.
"""

import contextlib
import ctypes
import os
import select
import struct
import threading
from collections.abc import Callable, Iterable

from sandbox.errors import EnclosureError

# inotify(7): events of a folder about names in it.
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _OVERFLOW, _ONLYDIR = 0x40, 0x80, 0x100, 0x200, 0x4000, 0x0100_0000
_EVENTS = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLYDIR
_HEADER = struct.Struct("=iIII")  # watch, mask, cookie, bytes of the name
_libc = ctypes.CDLL(None, use_errno=True)

Identity = tuple[int, int] | None


class Covers:
    """Watches `paths` from when it is made, which comes before their mounts do. A context manager.

    Raises EnclosureError where the kernel gives no watch.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._before = {path: _identity(path) for path in paths}
        self._lost: Callable[[str], None] = lambda _: None
        self._thread = threading.Thread(target=self._watch, name="covers", daemon=True)
        self._over, self._end = os.pipe2(os.O_CLOEXEC)
        self._events = -1
        self._names: dict[int, set[bytes]] = {}
        try:
            self._begin()
        except OSError as error:
            self.close()
            raise EnclosureError(
                "covers-unwatched",
                f"What is to be hidden inside cannot be watched: {error.strerror}.",
                "Raise fs.inotify.max_user_instances and max_user_watches (sysctl).",
            ) from error

    def _begin(self) -> None:
        if not self._before:
            return
        self._events = _checked(_libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
        for path in self._before:
            folder, name = os.path.split(os.fsencode(path))
            if os.path.isdir(folder):
                watch = _checked(_libc.inotify_add_watch(self._events, folder, _EVENTS))
                self._names.setdefault(watch, set()).add(name)

    def start(self, lost: Callable[[str], None]) -> None:
        """From now on call `lost`, in a thread and once, with a path that was replaced or removed.

        Raises EnclosureError where one already was.
        """
        if (path := self._replaced()) is not None:
            raise EnclosureError(
                "cover-lost", f"{path} was replaced while the session began.", "Start it again."
            )
        if self._before:
            self._lost = lost
            self._thread.start()

    def _replaced(self) -> str | None:
        return next((path for path, before in self._before.items() if _identity(path) != before), None)

    def _watch(self) -> None:
        while self._over not in select.select([self._events, self._over], [], [])[0]:
            if self._concerns_us(os.read(self._events, 1 << 16)) and (path := self._replaced()) is not None:
                self._lost(path)
                return

    def _concerns_us(self, events: bytes) -> bool:
        """Whether one of them is about a name of ours: an agent makes many others."""
        at = 0
        while at < len(events):
            watch, mask, _, length = _HEADER.unpack_from(events, at)
            at += _HEADER.size + length
            name = events[at - length : at].rstrip(b"\0")
            if mask & _OVERFLOW or name in self._names.get(watch, ()):
                return True
        return False

    def close(self) -> None:
        """Watch no longer."""
        with contextlib.suppress(OSError):
            os.write(self._end, b"!")
        if self._thread.is_alive():
            self._thread.join()
        for fd in {self._events, self._over, self._end} - {-1}:
            os.close(fd)
        self._events = self._over = self._end = -1

    def __enter__(self) -> "Covers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _identity(path: str) -> Identity:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _checked(answer: int) -> int:
    """What a system call gave. Raises OSError."""
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
