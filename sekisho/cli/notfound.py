"""Why a session's command was not found, and what to do: the shell that starts it says neither."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sandbox.absent import KIND
from sekisho.core.display import one_line
from sekisho.core.policy import Policy
from sekisho.store.handoff import Handoff

STATUS = 127  # of a shell, for a command that is not found
# Inside, these are folders of the session's own.
_OWN_INSIDE = ("/tmp", "/var/tmp")


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command was looked for.

    `found` is it on the person's PATH, `outside` the file that a path names there, `inside` whether that path
    leads to something in the session's work. `image`: it ran in a container.
    """

    name: str
    found: str | None = None
    outside: Path | None = None
    project: Path
    inside: bool = False
    only: Sequence[str] | None = None
    image: bool = False


def explained(looked: Looked) -> tuple[str, str] | None:
    """Why, and what next; None where the command was there, and so ended with this status by itself. Pure."""
    if "/" in looked.name:
        return _path(looked)
    if looked.only is not None and looked.name not in looked.only:
        return "the policy's sandbox.tools.only leaves it out", "add it to that list"
    if looked.image:
        return (
            None if looked.found else ("it is not in the image", "build one with it: `sekisho image build`")
        )
    if looked.found:
        return None
    if kind := KIND.get(looked.name):
        return (
            f"it is not on your PATH, and tools of its kind ({kind}) are absent inside",
            f'install it, and name it: sandbox.tools.keep = ["{looked.name}"] in sekisho.toml',
        )
    return "it is not on your PATH, which the sandbox uses too", "install it, or look at its spelling"


def _path(looked: Looked) -> tuple[str, str] | None:
    if looked.inside:
        return None
    if looked.outside is None:
        return "there is no such file", "look at its path"
    if looked.outside.is_relative_to(looked.project):
        return (
            "it lies in your tree, but ignored files do not come along",
            "sandbox.carry in sekisho.toml names what does",
        )
    return "it is there outside, but its folder is not mounted", "sandbox.mount in sekisho.toml names folders"


def left_outside(words: Sequence[str], project: Path, home: Path, visible: Sequence[str]) -> str | None:
    """The first word of a command that names a file which is there, but not inside; `visible` are folders
    that are mounted."""
    for word in words:
        path = Path(os.path.abspath(word))
        hidden = any(map(path.is_relative_to, (home, *map(Path, _OWN_INSIDE))))
        if not hidden or any(map(path.is_relative_to, (project, *map(Path, visible)))):
            continue
        if not word.startswith("-") and _exists(path):
            return word
    return None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a word that is no path at all
        return False


def lines(folder: Path, handoff: Handoff, status: int) -> list[str]:
    """What to say of a session that ended with this status, where what it names is not inside."""
    from sekisho.session import place
    from sekisho.session.settings import decode
    from sekisho.store.sessions import SessionFolder

    try:
        policy, record = decode((folder / "policy.json").read_bytes()), SessionFolder(folder).load()
        tree = place.read(folder).tree
    except Exception:  # it is a hint: what cannot be read is said by others
        return []
    project, argv = Path(handoff.project), handoff.argv
    image = record.backend == "docker"
    said = _command(policy, argv[0], project, tree, image=image) if status == STATUS else []
    if said or image:
        return said
    visible = _mounted(argv[0], project, policy.sandbox.mount)
    word = left_outside(argv[1:], project, Path.home(), visible)
    if word is None:
        return []
    return [
        f"  {one_line(word)} is there outside, but its folder is not mounted in the session",
        "  next: put it into the repository, or name its folder: sandbox.mount in sekisho.toml",
    ]


def _mounted(command: str, project: Path, extra: Sequence[str]) -> list[str]:
    """The folders of the person's that come along."""
    from sandbox.toolchain import detect

    try:
        found = detect(command, environ=os.environ, home=str(Path.home()), workdir=str(project), extra=extra)
    except ValueError:
        return []
    return [mount.target for mount in found.mounts]


def _command(policy: Policy, name: str, project: Path, tree: Path, *, image: bool) -> list[str]:
    place = Path(os.path.abspath(name)) if "/" in name else None
    looked = Looked(
        name=name,
        found=shutil.which(name),
        outside=place if place is not None and place.exists() else None,
        project=project,
        inside=place is not None and _there(place, project, tree),
        only=policy.sandbox.tools.only,
        image=image,
    )
    said = explained(looked)
    return (
        [] if said is None else [f"  {one_line(name)} was not found inside: {said[0]}", f"  next: {said[1]}"]
    )


def _there(place: Path, project: Path, tree: Path) -> bool:
    """Whether a path leads to something inside, as far as that can be seen from here."""
    if not place.is_relative_to(project):
        return shutil.which(place) is not None  # the folder of a command comes along
    return os.path.lexists(tree / place.relative_to(project))
