"""Environment variables that make a tool run or read something else."""

import re
from fnmatch import fnmatchcase
from functools import lru_cache

from shim.call import Call
from shim.grammar import variables
from shim.text import HOLE

_PLAIN_SSH = re.compile(r"(/usr/bin/)?ssh\b[^;&|`$<>\n\0]*")
_UNSAFE_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")


def environment_effects(call: Call) -> None:
    """Notes what the variables set for this call would do. Built-in defaults are not looked at."""
    readers, names = _read_by(call.name)
    given = names & call.state.variables.keys()
    for name, kind, harmless in readers if given else ():
        if name not in given or not (value := call.state.text(name)) or value in harmless:
            continue
        if kind == "shell":
            call.shell(value, name=name)
        elif kind == "transport":
            transport(call, value)
        else:
            call.unknown(name, f"{name} makes {call.name} do what a file or library says", code="environment")
    path = call.state.text("PATH")
    own = call.context.environment.get("PATH")  # the session's own is not the command's doing
    if path is not None and path != own and any(_unsafe(folder) for folder in path.split(":")):
        call.unknown("PATH", "programs would come from a folder of the project", code="environment")


@lru_cache(maxsize=512)
def _read_by(tool: str) -> tuple[tuple[tuple[str, str, frozenset[str]], ...], frozenset[str]]:
    """Name, kind and harmless values of each variable that a tool reads; and all the names."""
    readers = tuple(
        (name, variable.kind, frozenset(variable.harmless.split()))
        for variable in variables()
        if any(fnmatchcase(tool, pattern) for pattern in variable.tools.split())
        for name in variable.names.split()
    )
    return readers, frozenset(name for name, _kind, _harmless in readers)


def transport(call: Call, command: str) -> None:
    """A command that reaches a server: plain ssh is what the tool would use anyway."""
    if not _PLAIN_SSH.fullmatch(command) or "command" in command.lower():
        call.shell(command, stdin=HOLE, name="ssh")


def _unsafe(folder: str) -> bool:
    if folder.startswith(HOLE) or folder.endswith(("/.venv/bin", "node_modules/.bin", "venv/bin")):
        return False
    return not folder.startswith(("/", "~")) or folder.rstrip("/").startswith(_UNSAFE_FOLDERS)
