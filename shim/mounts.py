"""Folders of this machine that a container is given, and what paths inside it stand for."""

from posixpath import normpath

from shim.options import Parsed

Mounts = tuple[tuple[str, str], ...]
OWN = "/dev/shm/of-the-container"  # stands for a container's own files: they are not kept
MOST = 16  # a path inside is compared with each
_READ_ONLY = {"ro", "readonly"}


def bound(parsed: Parsed, cwd: str) -> Mounts:
    """(path inside, path here) of the folders that can be written, the deepest first."""
    found = []
    for text in parsed.all("-v", "--volume"):
        source, _, rest = text.partition(":")
        target, _, options = rest.partition(":")
        if source.startswith(("/", ".", "~")) and target and not _READ_ONLY & set(options.split(",")):
            found.append((target, source))
    for text in parsed.all("--mount"):
        parts = text.split(",")
        given = dict(part.partition("=")[::2] for part in parts)
        source = given.get("source") or given.get("src") or ""
        target = given.get("target") or given.get("dst") or given.get("destination") or ""
        if given.get("type") == "bind" and source and target and not _READ_ONLY & {*parts}:
            found.append((target, source))
    placed = [
        (normpath(target), normpath(f"{cwd}/{source}" if source[0] == "." else source))
        for target, source in found
    ]
    return tuple(sorted(placed, key=lambda one: len(one[0]), reverse=True))


def outside(absolute: str, mounts: Mounts) -> str:
    """What an absolute path inside is here. A path that is one of here already stays."""
    for _, here in mounts:
        if f"{absolute}/".startswith(f"{here}/"):
            return absolute
    for inside, here in mounts:
        if f"{absolute}/".startswith(f"{inside}/"):
            return here + absolute[len(inside) :]
    return absolute if absolute.startswith(OWN) else OWN + absolute
