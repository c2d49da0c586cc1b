"""setuptools hooks: an installation has the compiled client where a compiler is at hand, else the Python one.

Loaded by setuptools alone, by its path and before the package can be imported; setuptools is no dependency of
the product and has no types.
"""

# mypy: disable-error-code="import-untyped,misc,no-any-return"
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from sysconfig import get_platform
from types import ModuleType

from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py


def _compiling() -> ModuleType:
    found = spec_from_file_location("compiling", Path(__file__).with_name("compiling.py"))
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


class BuildWithClient(build_py):
    """`build_py` that adds the compiled client; in an editable installation, beside its source."""

    def run(self) -> None:
        super().run()
        folder = Path(__file__).parent if self.editable_mode else Path(self.build_lib) / "shim"
        if sys.platform == "linux" and (folder / "client.c").is_file():
            _compiling().keep(folder)


class WheelForPlatform(bdist_wheel):
    """A wheel that holds the compiled client fits one platform and any Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        built = Path(self.get_finalized_command("build").build_lib) / "shim"
        if not list(built.glob("client.*.bin")):
            return super().get_tag()
        return "py3", "none", get_platform().replace("-", "_").replace(".", "_")
