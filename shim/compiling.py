"""Compiles the client, where a C compiler is at hand: `python -m shim.compiling` for this installation."""

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_COMPILERS = ("musl-gcc", "gcc", "cc", "clang")
_FLAGS = ("-std=c11", "-Os", "-Wall", "-Wextra", "-fstack-protector-strong", "-s")
_LINKING = (("-static",), ())
_SECONDS = 60
_MADE_FROM = ("client.c", "watch.h", "compiling.py")


def compile_client(source: Path, target: Path, *defines: str) -> bool:
    """Compiles the client to `target`; False if no compiler can. `defines` as `NAME=VALUE`."""
    for command in _commands(source, target):
        flags = [f"-D{define}" for define in defines]
        done = subprocess.run([*command, *flags], capture_output=True, timeout=_SECONDS, check=False)
        if done.returncode == 0 and os.access(target, os.X_OK):
            return True
    return False


def _commands(source: Path, target: Path) -> Iterator[list[str]]:
    """Compiler calls to try, the best first: static, so that the client runs in any image."""
    for linking in _LINKING:
        for name in _COMPILERS:
            compiler = shutil.which(name)
            if compiler:
                yield [compiler, *_FLAGS, *linking, "-o", str(target), "-x", "c", str(source)]


def kept(folder: Path) -> Path:
    """Where the client made from the sources in `folder` lies, for this machine's processor.

    Its name has their digest: one that was made from others is never taken for it.
    """
    total = hashlib.sha256(os.uname().machine.encode())
    for name in _MADE_FROM:
        total.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return folder / f"client.{total.hexdigest()[:16]}.bin"


def keep(folder: Path) -> bool:
    """Compiles the client beside its sources, unless it is there; False if none can. Raises OSError."""
    target = kept(folder)
    if not target.is_file():
        making = folder / f".making-{os.getpid()}"
        try:
            if not compile_client(folder / "client.c", making):
                return False
            making.rename(target)
        finally:
            making.unlink(missing_ok=True)
    for other in folder.glob("client.*.bin"):
        if other != target:
            with contextlib.suppress(OSError):
                other.unlink()
    return True


if __name__ == "__main__":
    keep(Path(__file__).parent)
