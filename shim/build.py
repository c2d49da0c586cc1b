"""setuptools hooks: compile the client where a C compiler is at hand, else ship the Python client alone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from setuptools import Distribution
from setuptools.command.build_py import build_py

_COMPILERS = ("musl-gcc", "gcc", "cc", "clang")
_FLAGS = ("-std=c11", "-Os", "-Wall", "-Wextra", "-fstack-protector-strong", "-s")
_LINKING = (("-static",), ())
_SECONDS = 60


def commands(source: Path, target: Path) -> Iterator[list[str]]:
    """Compiler calls to try, the best first: static, so that the client runs in any image."""
    for linking in _LINKING:
        for name in _COMPILERS:
            compiler = shutil.which(name)
            if compiler:
                yield [compiler, *_FLAGS, *linking, "-o", str(target), str(source)]


def compile_client(source: Path, target: Path, *defines: str) -> bool:
    """Compiles the client to `target`; False if no compiler can. `defines` as `NAME=VALUE`."""
    for command in commands(source, target):
        flags = [f"-D{define}" for define in defines]
        done = subprocess.run([*command, *flags], capture_output=True, timeout=_SECONDS, check=False)
        if done.returncode == 0 and os.access(target, os.X_OK):
            return True
    return False


class BuildWithClient(build_py):
    """`build_py` that adds `shim/client.bin`."""

    def run(self) -> None:
        super().run()
        if sys.platform != "linux" or self.editable_mode:
            return
        folder = Path(self.build_lib) / "shim"
        if (folder / "client.c").is_file():
            compile_client(folder / "client.c", folder / "client.bin")


class MayHoldProgram(Distribution):
    """A wheel with the compiled client is not for every platform."""

    def has_ext_modules(self) -> bool:
        return sys.platform == "linux" and shutil.which("musl-gcc") is not None
