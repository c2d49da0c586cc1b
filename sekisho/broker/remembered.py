"""Commands that only read, answered again at once while the files that were looked at stand as they did.

A build asks the same few things thousands of times. What is remembered is the whole request, its
environment included; what was looked at is told apart by inode, size and times.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

import msgspec

from sekisho.broker.commands import ClonedFiles
from shim.context import Kind

MOST = 4096  # requests
LARGEST = 4096  # bytes of a request that is remembered, or observed without a thread
MOST_LOOKED_AT = 24
MOST_FOLDERS = 64  # of which git's configuration is remembered
# A file changed again within the clock's grain may look the same.
SETTLED = 100_000_000  # nanoseconds

Stamp = tuple[int, int, int, int] | None
# By folder: what the settings were read from, and the settings.
Configs = dict[str, tuple[dict[str, Stamp], tuple[tuple[str, str], ...]]]


class NeedsTime(BaseException):
    """What is to be looked at may take long. No Exception: observing turns those into a judgement."""


class Seen(msgspec.Struct, frozen=True, gc=False):
    """What was looked at for one command, and how it was. Thousands of these are kept."""

    stamps: tuple[dict[str, Stamp], ...]
    kinds: tuple[tuple[str, Kind], ...]
    inside: str
    clone: str

    def stands(self) -> bool:
        """Whether everything is as it was."""
        if not all(map(_stand, self.stamps)):
            return False
        if not self.kinds:
            return True
        files = ClonedFiles(self.inside, self.clone)
        return all(files.kind(path) is found for path, found in self.kinds)


class NotedFiles(ClonedFiles):
    """The clone, with a note of what was looked at; for one command. Raises NeedsTime where the look has
    no small bound."""

    def __init__(self, inside: str, clone: str, configs: Configs | None = None) -> None:
        """`configs` is what earlier commands have read of git's configuration, and is added to."""
        super().__init__(inside, clone)
        self._configs = {} if configs is None else configs
        self._kinds: dict[str, Kind] = {}
        self._noted: list[dict[str, Stamp]] = []
        self._settled = True
        self._reading: dict[str, Stamp] = {}

    def kind(self, path: str) -> Kind:
        return self._kinds.setdefault(path, super().kind(path))

    def committed(self, path: str) -> bool:
        raise NeedsTime

    def tracked_below(self, folder: str) -> bool:
        raise NeedsTime

    def matches(self, pattern: str) -> tuple[str, ...]:
        raise NeedsTime

    def git_config(self, folder: str) -> tuple[tuple[str, str], ...]:
        stamps, pairs = self._configs.get(folder, (None, ()))
        if stamps is None or not _stand(stamps):
            stamps = self._reading = {}
            pairs = super().git_config(folder)
            self._keep(folder, stamps, pairs)
        self._noted.append(stamps)
        return pairs

    def _keep(self, folder: str, stamps: dict[str, Stamp], pairs: tuple[tuple[str, str], ...]) -> None:
        if not _settled(stamps):
            self._settled = False
            return
        if len(self._configs) >= MOST_FOLDERS:
            self._configs.clear()
        self._configs[folder] = stamps, pairs

    def _own_config(self, folder: str) -> tuple[Path, ...]:
        for place in (Path(folder), *Path(folder).parents):
            dot = str(place / ".git")
            self._reading[dot] = stamp(dot)
            if self._reading[dot] is not None:
                break
        paths = super()._own_config(folder)
        for path in (*(path.parent / "commondir" for path in paths), *paths):
            self._note(str(path))
        return paths

    def _note(self, path: str) -> None:
        """What is absent from a folder is told by the folder's own times, which are noted anyway."""
        parent = os.path.dirname(path)
        before, found = stamp(parent), stamp(path)
        if found is None and before is not None and not os.path.islink(parent):
            self._reading[parent] = before
        else:
            self._reading[path] = found

    def seen(self) -> Seen | None:
        """What was looked at, if it can be told from what comes after it."""
        if not self._settled or sum(map(len, self._noted)) + len(self._kinds) > MOST_LOOKED_AT:
            return None
        return Seen(tuple(self._noted), tuple(self._kinds.items()), self._inside, self._clone)


def stamp(path: str | Path) -> Stamp:
    """Inode, size, and the times of content and inode in nanoseconds; None for what is not there."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _stand(stamps: Mapping[str, Stamp]) -> bool:
    return all(map(_stands, stamps.items()))


def _stands(noted: tuple[str, Stamp]) -> bool:
    return stamp(noted[0]) == noted[1]


def _settled(stamps: Mapping[str, Stamp]) -> bool:
    newest = max((found[3] for found in stamps.values() if found), default=0)
    return time.time_ns() - newest > SETTLED


class Remembered[T]:
    """What was found for a request, the least used forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[Seen, T]] = OrderedDict()

    def get(self, request: bytes) -> T | None:
        """What was found, if it still holds."""
        known = self._known.get(request)
        if known is None:
            return None
        seen, found = known
        if not seen.stands():
            del self._known[request]
            return None
        self._known.move_to_end(request)
        return found

    def keep(self, request: bytes, files: NotedFiles, found: T) -> None:
        """Remember it, if it can be told when it no longer holds; by then what changed meanwhile shows."""
        if len(request) <= LARGEST and (seen := files.seen()) is not None:
            self._known[request] = (seen, found)
            if len(self._known) > MOST:
                self._known.popitem(last=False)
