"""Which images there are, and what goes into each. Pure, apart from reading the lists beside it."""

import re
from pathlib import Path

import msgspec

from sandbox.absent import KIND

FOLDER = Path(__file__).parent
LABEL, PACKAGES_LABEL = "dev.sekisho.variant", "dev.sekisho.packages"
SUITE = "bookworm"
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+\Z")


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """`lists` are files of packages; `on` is the variant whose image a Dockerfile starts from, where there is
    no list that it could be built from."""

    name: str
    summary: str
    lists: tuple[str, ...] = ()
    on: str | None = None

    @property
    def tag(self) -> str:
        """The image's name."""
        return f"sekisho/{self.name}"

    @property
    def dockerfile(self) -> str:
        """The file beside this one."""
        return f"{self.name}.Dockerfile"


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant(name="base", summary="git, ripgrep, curl, python3", lists=("base.txt",)),
        Variant(name="python", summary="base, and pip, venv, pytest", lists=("base.txt", "python.txt")),
        Variant(name="node", summary="base, and Node with npm", lists=("base.txt", "node.txt")),
        Variant(name="claude-code", summary="node, and the agent client Claude Code", on="node"),
    )
}


def packages(text: str, source: str) -> list[str]:
    """The names in a list: one a line, `#` begins a comment. ValueError for a line that is no name."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        name = line.partition("#")[0].strip()
        if name and not _PACKAGE.match(name):
            raise ValueError(f"{source}:{number}: {name!r} is no package name")
        if name:
            found.append(name)
    return found


def packages_of(variant: Variant, extra: tuple[Path, ...] = ()) -> list[str]:
    """All packages of a variant, and of a person's own lists: sorted, each once. OSError, ValueError."""
    files = [*(FOLDER / name for name in variant.lists), *extra]
    names = [name for file in files for name in packages(file.read_text(), str(file))]
    return sorted(dict.fromkeys(names))


def removed_tools() -> list[str]:
    """Programs that essential packages bring along and no image has, below /usr."""
    return sorted(f"usr/{folder}/{name}" for name in KIND for folder in ("bin", "sbin"))
