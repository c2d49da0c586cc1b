"""Tools whose arguments are a language of their own; all others are data in `shim/grammar`."""

from functools import cache
from importlib import import_module

from shim.call import Handler

_MODULES = (
    "archives awk code.cli code.debuggers copying deleting editing forge git.cli http.clients packages "
    "python.cli remote searching sed shells sql.clients stores transferring wrappers"
)


@cache
def _registry() -> dict[str, Handler]:
    found: dict[str, Handler] = {}
    for name in _MODULES.split():
        for tool, function in import_module(f"{__name__}.{name}").HANDLERS.items():
            if tool in found:
                raise ValueError(f"{tool} has two handlers")
            found[tool] = function
    return found


def load() -> None:
    """Import them all, which the first look-up would do otherwise."""
    _registry()


def handler(name: str) -> Handler | None:
    """The handler of a tool, by its plain name."""
    return _registry().get(name)
