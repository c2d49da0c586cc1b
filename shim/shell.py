"""Shell text -> Action; see `shim.observe`."""

from shim.observe import observe_shell

__all__ = ["observe_shell"]
