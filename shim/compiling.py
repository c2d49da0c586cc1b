"""Compiles the client, where a C compiler is at hand."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_COMPILERS = ("musl-gcc", "gcc", "cc", "clang")
_FLAGS = ("-std=c11", "-Os", "-Wall", "-Wextra", "-fstack-protector-strong", "-s")
_LINKING = (("-static",), ())
_SECONDS = 60


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
