"""The tools inside a container are the image's; what leads its PATH there is ours. Pure."""

import shlex
from collections.abc import Iterable, Sequence

from sandbox.absent import KIND, ONLY_DIR, stub
from sandbox.docker.base import image_path
from sandbox.docker.render import Image
from sandbox.spec import Mount, MountKind

ABSENT_DIR = "/run/sekisho/absent"

_ONLY = """#!/bin/sh
found=$(PATH={path} command -v -- {name}) || {{
  echo {message} >&2
  exit 127
}}
exec "$found" "$@"
"""


def path(image: Image, *, first: Sequence[str], only: Sequence[str] | None) -> str:
    """The PATH inside: `first`, then what says of absent tools how to ask, then the image's own."""
    return ":".join([*first, ONLY_DIR] if only is not None else [*first, ABSENT_DIR, image_path(image.env)])


def mounts(image: Image, *, keep: Iterable[str], only: Sequence[str] | None) -> tuple[Mount, ...]:
    """The files of those folders. By name, before the image's: which of them it has cannot be seen from here,
    and our own images have none."""
    if only is not None:
        names = dict.fromkeys(name for name in only if name and "/" not in name)
        return tuple(_script(f"{ONLY_DIR}/{name}", _found_in(image, name)) for name in names)
    kept = set(keep)
    return tuple(
        _script(f"{ABSENT_DIR}/{name}", stub(name, kind)) for name, kind in KIND.items() if name not in kept
    )


def _found_in(image: Image, name: str) -> str:
    return _ONLY.format(
        path=shlex.quote(image_path(image.env)),
        name=shlex.quote(name),
        message=shlex.quote(f"sekisho: {name} is not in this image"),
    )


def _script(target: str, text: str) -> Mount:
    return Mount(kind=MountKind.DATA, target=target, content=text.encode(), mode=0o755)
