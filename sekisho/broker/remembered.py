"""Commands that only read, answered again at once while the files that were looked at stand as they did.

A build asks the same few things thousands of times. What is remembered is the whole request, its
environment included; what was looked at is told apart by inode, size and times.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

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


class NotedFiles(ClonedFiles):
    """The clone, with a note of what was looked at; for one command. Raises NeedsTime where the look has
    no small bound."""

    def __init__(self, inside: str, clone: str, configs: Configs | None = None) -> None:
        """`configs` is what earlier commands have read of git's configuration, and is added to."""
        super().__init__(inside, clone)
        self._configs = {} if configs is None else configs
        self._kinds: dict[str, Kind] = {}
        self._stamps: dict[str, Stamp] = {}

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
            before, self._stamps = self._stamps, {}
            try:
                pairs = super().git_config(folder)
            finally:
                stamps, self._stamps = self._stamps, before
            if _settled(stamps):
                if len(self._configs) >= MOST_FOLDERS:
                    self._configs.clear()
                self._configs[folder] = stamps, pairs
        self._stamps = {**stamps, **self._stamps}
        return pairs

    def _own_config(self, folder: str) -> tuple[Path, ...]:
        paths = super()._own_config(folder)
        for path in (Path(folder, ".git"), *(path.parent / "commondir" for path in paths), *paths):
            self._stamps.setdefault(str(path), stamp(path))
        return paths

    def settled(self) -> bool:
        """Whether what was looked at can be told from what comes after it."""
        return len(self._stamps) + len(self._kinds) <= MOST_LOOKED_AT and _settled(self._stamps)

    def stands(self) -> bool:
        """Whether everything is as it was when it was looked at."""
        return _stand(self._stamps) and all(
            ClonedFiles.kind(self, path) is found for path, found in self._kinds.items()
        )


def stamp(path: str | Path) -> Stamp:
    """Inode, size, and the times of content and inode in nanoseconds; None for what is not there."""
    try:
        info = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _stand(stamps: Mapping[str, Stamp]) -> bool:
    return all(stamp(path) == found for path, found in stamps.items())


def _settled(stamps: Mapping[str, Stamp]) -> bool:
    newest = max((found[3] for found in stamps.values() if found), default=0)
    return time.time_ns() - newest > SETTLED


class Remembered[T]:
    """What was found for a request, the least used forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[NotedFiles, T]] = OrderedDict()

    def get(self, request: bytes) -> T | None:
        """What was found, if it still holds."""
        known = self._known.get(request)
        if known is None:
            return None
        files, found = known
        if not files.stands():
            del self._known[request]
            return None
        self._known.move_to_end(request)
        return found

    def keep(self, request: bytes, files: NotedFiles, found: T) -> None:
        """Remember it, if it can be told when it no longer holds."""
        if len(request) <= LARGEST and files.settled() and files.stands():
            self._known[request] = (files, found)
            if len(self._known) > MOST:
                self._known.popitem(last=False)
