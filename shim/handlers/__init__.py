"""Tools whose arguments are a language of their own; all others are data in `shim/grammar`."""

from functools import cache

from shim.call import Handler


@cache
def _registry() -> dict[str, Handler]:
    from shim.handlers import (
        archives,
        code,
        copying,
        deleting,
        editing,
        forge,
        gitcli,
        http,
        packages,
        python_code,
        remote,
        searching,
        shells,
        sql,
        stores,
        wrappers,
    )

    found: dict[str, Handler] = {}
    for module in (
        archives,
        code,
        copying,
        deleting,
        editing,
        forge,
        gitcli,
        http,
        packages,
        python_code,
        remote,
        searching,
        shells,
        sql,
        stores,
        wrappers,
    ):
        for name, function in module.HANDLERS.items():
            if name in found:
                raise ValueError(f"{name} has two handlers")
            found[name] = function
    return found


def handler(name: str) -> Handler | None:
    """The handler of a tool, by its plain name."""
    return _registry().get(name)
