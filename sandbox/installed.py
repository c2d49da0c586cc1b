"""Where an installed program has its parts: from one file to the folder that must be visible with it."""

import os
import shlex
import shutil
from collections.abc import Iterator

# `bin` in these belongs to many programs; what lies beside it is none of theirs.
SHARED = (".local", ".cargo", "go", ".deno", "")
_BIN = ("bin", "sbin", "shims", ".bin", "Scripts")


def install_root(path: str, home: str) -> str:
    """The folder of the installation that a program, or a folder of programs, belongs to.

    The path itself where the surroundings are shared, or hold more than one installation.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    parts = path.split("/")
    if "node_modules" in parts:
        return "/".join(parts[: parts.index("node_modules") + 1])
    if "versions" in parts[1:-1]:
        return "/".join(parts[: parts.index("versions")])
    if os.path.basename(folder) in _BIN:
        root = os.path.dirname(folder)
        return folder if _is_shared(root, home) else root
    return path if _is_shared(folder, home) else folder


def _is_shared(folder: str, home: str) -> bool:
    """Whether a folder is too wide to be one installation: home, what holds it, the first two levels."""
    if home == folder or home.startswith(folder.rstrip("/") + "/"):
        return True
    return folder in (os.path.join(home, name).rstrip("/") for name in SHARED) or folder.count("/") < 2


def needed_by(program: str, path: str, home: str) -> list[str]:
    """The folders that a program needs: along its links, and those of its interpreter."""
    seen: dict[str, None] = {}
    queue = [program]
    while queue:
        current = queue.pop()
        if current not in seen:
            seen[current] = None
            queue += _next(current, path)
    return list(dict.fromkeys(install_root(file, home) for file in seen))


def _next(file: str, path: str) -> Iterator[str]:
    if os.path.islink(file):
        yield os.path.normpath(os.path.join(os.path.dirname(file), os.readlink(file)))
    real = os.path.realpath(file)
    if real != file:
        yield real
    interpreter = _interpreter(file, path)
    if interpreter:
        yield interpreter


def _interpreter(file: str, path: str) -> str | None:
    """The program that the first line names; behind env(1), the one that PATH leads to."""
    try:
        with open(file, "rb") as script:
            line = script.readline(512)
        words = shlex.split(line[2:].decode()) if line.startswith(b"#!") else []
    except (OSError, ValueError):
        return None
    if not words:
        return None
    if os.path.basename(words[0]) != "env":
        return words[0]
    name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), None)
    return shutil.which(name, path=path) if name else None
