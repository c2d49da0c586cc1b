"""Who runs the tests of a command, and whether the session itself put it there.

A summary is worth what its runner is worth. One that lies where the agent may write counts only if it is,
byte for byte, what the session began with.
"""

import json
import os
import re
import shlex
from pathlib import Path

import msgspec

from sandbox.saferead import look, read_file
from sekisho.broker.state import SessionState
from sekisho.session.config import WORKSPACE
from shim.protocol import Asked
from shim.suites import Suite, suite

_WRITABLE = ("/tmp/", "/var/tmp/", "/dev/shm/", "/run/user/", "/run/sekisho/outbox/", "/home/agent/")
_LARGEST = 8 << 20  # bytes of a runner that are compared
_SETTING = re.compile(r"[A-Za-z_]\w*=\S*")
_SHELL = re.compile(r"[;&|<>$`(){}*?\n\\]")


class Runner(msgspec.Struct, frozen=True, kw_only=True):
    """`form` is that of its summary; `foreign` says why its word counts for nothing, "" where it counts."""

    form: str
    foreign: str = ""


def runner(state: SessionState, asked: Asked) -> Runner | None:
    """Who runs the tests of an announced command; None for a command that is no test run."""
    found = suite(asked.argv)
    if found is None:
        return None
    if found.script:
        return _of_script(state, asked, found.script)
    if not found.direct:
        return Runner(form=found.runner, foreign="a file of the project says what ran")
    return Runner(form=found.runner, foreign=_foreign(state, asked, found))


def _of_script(state: SessionState, asked: Asked, name: str) -> Runner:
    """What `npm test` runs, as far as package.json names a runner and nothing else."""
    unknown = Runner(form="", foreign=f"the script {name!r} of package.json names no known runner")
    words = _script(state, asked.cwd, name)
    inner = suite(words) if words else None
    if inner is None or not inner.direct:
        return unknown
    own = os.path.join(asked.cwd, "node_modules", ".bin", words[0])
    tool = own if _relative(state, own) and _there(state, own) else asked.tool
    named = msgspec.structs.replace(asked, argv=tuple(words), tool=tool)
    return Runner(form=inner.runner, foreign=_foreign(state, named, inner))


def _script(state: SessionState, cwd: str, name: str) -> list[str]:
    """The words of a script without a language of its own; empty for any other."""
    place = _relative(state, os.path.join(cwd, "package.json"))
    if not place:
        return []
    try:
        text = json.loads(read_file(Path(state.config.clone), place, limit=1 << 20))["scripts"][name]
        words = [] if _SHELL.search(text) else shlex.split(text)
    except (OSError, ValueError, KeyError, TypeError):
        return []
    while words and (_SETTING.fullmatch(words[0]) or words[0] == "cross-env"):
        words = words[1:]
    return words


def _foreign(state: SessionState, asked: Asked, found: Suite) -> str:
    """Why a direct runner's word counts for nothing."""
    if _relative(state, asked.cwd) is None:
        return "it ran outside of the working tree"
    top = next((top for top in _WRITABLE if asked.tool.startswith(top)), None)
    if top is not None and _relative(state, asked.tool) is None:
        # A folder of the person's that is mounted there is read-only, but what leads to it can be replaced.
        return (
            f"the runner lies below {top.rstrip('/')}, where it could be replaced; one in /usr, your home or "
            "sandbox.carry counts"
        )
    places = [asked.tool]
    if found.module:
        given = dict(asked.environment).get("PYTHONPATH", "")
        folders = [asked.cwd, *(os.path.join(asked.cwd, part) for part in given.split(":") if part)]
        module = found.module.replace(".", "/")
        names = (f"{module}.py", f"{module}/__init__.py", f"{module}/__main__.py")
        places += [os.path.join(folder, name) for folder in folders for name in names]
    for place in places:
        if (reason := _made_here(state, os.path.normpath(place))) is not None:
            return reason
    return ""


def _made_here(state: SessionState, place: str) -> str | None:
    relative = _relative(state, place)
    if relative is None or not _there(state, place) or _same(state, relative):
        return None
    return f"the runner {relative} is not one that the session began with"


def _relative(state: SessionState, place: str) -> str | None:
    relative = os.path.relpath(place, state.config.project)
    return None if relative.startswith("..") else relative


def _there(state: SessionState, place: str) -> bool:
    try:
        look(Path(state.config.clone), os.fsencode(_relative(state, place) or ""))
    except OSError:
        return False
    return True


def _same(state: SessionState, relative: str) -> bool:
    """Whether a file is what the person has there; in the person's own tree, whether it is older than the
    session: no program inside can set the time of the last change of status back."""
    if os.path.realpath(state.config.clone) == os.path.realpath(state.config.project):
        return _older(state, relative)
    here, theirs = (os.path.join(top, relative) for top in (state.config.clone, state.config.project))
    try:
        if os.path.islink(here) or os.path.islink(theirs):
            return os.readlink(here) == os.readlink(theirs)
        content = read_file(Path(state.config.clone), relative, limit=_LARGEST)
        return content == Path(theirs).read_bytes()
    except OSError:
        return False


def _older(state: SessionState, relative: str) -> bool:
    try:
        changed = look(Path(state.config.clone), os.fsencode(relative)).st_ctime
        return changed < (state.folder / WORKSPACE).stat().st_mtime
    except OSError:
        return False
