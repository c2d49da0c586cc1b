"""setuptools hooks: the wheel holds the compiled client where a compiler is at hand, else the Python one alone.

Imported by the build alone: setuptools is no dependency of the product.
"""

import sys
from pathlib import Path
from sysconfig import get_platform

from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

from shim.compiling import compile_client


class BuildWithClient(build_py):
    """`build_py` that adds `shim/client.bin`."""

    def run(self) -> None:
        super().run()
        if sys.platform != "linux" or self.editable_mode:
            return
        folder = Path(self.build_lib) / "shim"
        if (folder / "client.c").is_file():
            compile_client(folder / "client.c", folder / "client.bin")


class WheelForPlatform(bdist_wheel):
    """A wheel that holds the compiled client fits one platform and any Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        built = Path(self.get_finalized_command("build").build_lib) / "shim" / "client.bin"
        if not built.is_file():
            return super().get_tag()
        return "py3", "none", get_platform().replace("-", "_").replace(".", "_")
