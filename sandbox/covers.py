"""Sees when something that is covered inside is replaced outside.

A cover is a mount on a file or folder of the person's: a hidden file of a tree that is worked in in
place, a login in a folder of tools. Linux takes such a mount away in every namespace once a program
outside renames another file over it, or removes it (since 3.18, see rename(2) and EBUSY): what lies there
afterwards is open inside. Inside, nobody can do that: what is a mount point there is busy.
"""

import contextlib
import os
import select
import struct
import threading
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from sandbox.errors import EnclosureError
from sandbox.process import checked, libc
from sandbox.spec import Mount

# inotify(7): events of a folder about names in it.
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _OVERFLOW, _ONLYDIR = 0x40, 0x80, 0x100, 0x200, 0x4000, 0x0100_0000
_EVENTS = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLYDIR
_HEADER = struct.Struct("=iIII")  # watch, mask, cookie, bytes of the name

UNTOLD = "something that is covered inside"  # where the kernel does not say what


def paths_of(mounts: Iterable[Mount]) -> list[str]:
    """The paths of covers, and of the folders on the way to them in what is mounted: one of those that is
    replaced takes the cover away as well. Pure."""
    mounts = list(mounts)
    shown = {mount.target for mount in mounts if mount.source == mount.target}
    found: dict[str, None] = {}
    for mount in mounts:
        if mount.guards:
            above = [str(folder) for folder in PurePosixPath(mount.target).parents]
            roots = [number for number, folder in enumerate(above) if folder in shown]
            found |= dict.fromkeys((mount.target, *above[: roots[-1] if roots else 0]))
    return list(found)


class Covers:
    """Watches `paths` from when it is made, which comes before their mounts do. A context manager.

    By names and not by inode numbers, which a file system gives out again at once. Raises EnclosureError
    where the kernel gives no watch.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._lost: Callable[[str], None] = lambda _: None
        self._thread = threading.Thread(target=self._watch, name="covers", daemon=True)
        self._over, self._end = os.pipe2(os.O_CLOEXEC)
        self._events = -1
        self._watched: dict[tuple[int, bytes], str] = {}
        try:
            self._begin(paths)
        except OSError as error:
            self.close()
            raise EnclosureError(
                "covers-unwatched",
                f"What is to be hidden inside cannot be watched: {error.strerror}.",
                "Raise fs.inotify.max_user_instances and max_user_watches (sysctl).",
            ) from error

    def _begin(self, paths: Iterable[str]) -> None:
        for path in paths:
            if self._events < 0:
                self._events = checked(libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
            folder, name = os.path.split(os.fsencode(path))
            if os.path.isdir(folder):
                watch = checked(libc.inotify_add_watch(self._events, folder, _EVENTS))
                self._watched[watch, name] = path

    def start(self, lost: Callable[[str], None]) -> None:
        """From now on call `lost`, in a thread and once, with a path that was replaced or removed.

        Raises EnclosureError where one already was.
        """
        if self._events < 0:
            return
        if (path := self._replaced()) is not None:
            raise EnclosureError(
                "cover-lost", f"{path} was replaced while the session began.", "Start it again."
            )
        self._lost = lost
        self._thread.start()

    def _watch(self) -> None:
        try:
            self._lost(self._wait())
        except _Over:
            return
        except BaseException:
            self._lost(UNTOLD)  # who cannot look must not let it go on
            raise

    def _wait(self) -> str:
        """The path that is lost. Raises _Over."""
        poll = select.poll()
        poll.register(self._events, select.POLLIN)
        poll.register(self._over, select.POLLIN)
        while True:
            if any(fd == self._over for fd, _ in poll.poll()):
                raise _Over
            if (path := self._replaced()) is not None:
                return path

    def _replaced(self) -> str | None:
        """What the events that have come are about, if that is ours: an agent makes many others."""
        try:
            events = os.read(self._events, 1 << 16)
        except BlockingIOError:
            return None
        at = 0
        while at < len(events):
            watch, mask, _, length = _HEADER.unpack_from(events, at)
            at += _HEADER.size + length
            if mask & _OVERFLOW:
                return UNTOLD
            if (path := self._watched.get((watch, events[at - length : at].rstrip(b"\0")))) is not None:
                return path
        return None

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


class _Over(Exception):
    """It is to watch no longer."""
