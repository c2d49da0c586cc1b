"""A hint to the disk: the folders below one have nothing to do with each other.

ext4 puts new files near their folder's neighbours, and before it gives out an inode it looks at each nearby
that was deleted in the last minutes. After a tidied session of 2,000 files the next one took 0.5 s, not 0.1,
nearly all of it there. Below a folder with this flag each folder finds a place of its own.
"""

import contextlib
import fcntl
import os
import struct
from pathlib import Path

# linux/fs.h, on 64 bits; the flag is that of chattr(1) +T.
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
_TOP_OF_HIERARCHY = 0x00020000
_LONG = struct.Struct("@l")


def spread(folder: Path) -> bool:
    """Set the flag on an existing folder; False where the file system or its owner does not let us."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            (flags,) = _LONG.unpack(fcntl.ioctl(fd, _GET_FLAGS, bytes(_LONG.size)))
            if not flags & _TOP_OF_HIERARCHY:
                fcntl.ioctl(fd, _SET_FLAGS, _LONG.pack(flags | _TOP_OF_HIERARCHY))
            return True
        finally:
            os.close(fd)
    return False
