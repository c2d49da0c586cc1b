"""The file that notes how far the journal has come, so that a cut tail is seen."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sekisho.store.chain import Head, seal_head
from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.files import check_private, os_errors_as_broken

# One disk sector, always written whole and in place: no crash leaves half of it.
_SIZE = 512


class HeadFile:
    """The head at `path`, sealed with the journal's key. Only ever moved forward.

    Every method raises `StoreBroken`.
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self._key = key

    def create(self) -> None:
        """Note an empty journal, over whatever is there."""
        with os_errors_as_broken(self.path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(self.path, flags, 0o600)
            try:
                os.pwrite(fd, self._encode(Head()), 0)
                os.fsync(fd)
            finally:
                os.close(fd)

    def read(self) -> Head:
        """The head as noted last."""
        with self._locked(os.O_RDONLY, fcntl.LOCK_SH) as fd:
            return self._decode(os.pread(fd, _SIZE + 1, 0))

    def advance(self, head: Head) -> None:
        """Note `head`, unless another process has already noted a later one."""
        with self._locked(os.O_RDWR, fcntl.LOCK_EX) as fd:
            if self._decode(os.pread(fd, _SIZE + 1, 0)).seq < head.seq:
                os.pwrite(fd, self._encode(head), 0)

    @contextmanager
    def _locked(self, flags: int, lock: int) -> Iterator[int]:
        with os_errors_as_broken(self.path):
            try:
                fd = os.open(self.path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
            except FileNotFoundError:
                raise StoreBroken(f"{self.path}: the journal's head is missing", Trouble.TAMPERED) from None
            try:
                check_private(fd, self.path)
                fcntl.flock(fd, lock)
                yield fd
            finally:
                os.close(fd)

    def _encode(self, head: Head) -> bytes:
        fields = {
            "seq": head.seq,
            "kind": head.kind,
            "mac": head.mac.hex(),
            "seal": seal_head(self._key, head).hex(),
        }
        return json.dumps(fields).encode().ljust(_SIZE - 1) + b"\n"

    def _decode(self, raw: bytes) -> Head:
        try:
            fields = json.loads(raw)
            head = Head(seq=fields["seq"], kind=fields["kind"], mac=bytes.fromhex(fields["mac"]))
            # The whole text is compared, not only the seal in it: one head has one spelling.
            if raw == self._encode(head):
                return head
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            pass
        raise StoreBroken(f"{self.path}: the journal's head is not sealed with its key", Trouble.TAMPERED)
