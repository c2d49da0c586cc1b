"""Keeps mitmproxy's bundled addons out of the process. Import this before anything of mitmproxy.

`mitmproxy.addons` imports every addon it ships, and with them flask, ldap3 and a script loader: half the
start-up time, and code that has no business in a trusted process. A bare package in its place lets the
two addons that are used be imported by themselves.
"""

import importlib.util
import sys
from types import ModuleType

_PACKAGE = "mitmproxy.addons"


def _install() -> None:
    spec = importlib.util.find_spec("mitmproxy")
    if _PACKAGE in sys.modules or spec is None or not spec.submodule_search_locations:
        return
    package = ModuleType(_PACKAGE)
    package.__path__ = [f"{folder}/addons" for folder in spec.submodule_search_locations]
    sys.modules[_PACKAGE] = package


_install()
