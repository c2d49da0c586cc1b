"""What the person's commands need outside /usr: found, and mounted read-only under the same path."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from sandbox import credentials
from sandbox.installed import install_root, needed_by
from sandbox.spec import Mount, MountKind

# Below home, and the variable that names the place (its value counts where it is set).
KNOWN: tuple[tuple[str, str], ...] = (
    (".pyenv", "PYENV_ROOT"),
    (".nvm", "NVM_DIR"),
    (".local/share/fnm", "FNM_DIR"),
    (".volta", "VOLTA_HOME"),
    (".local/share/pnpm", "PNPM_HOME"),
    (".bun", "BUN_INSTALL"),
    (".deno/bin", ""),
    (".npm-global", ""),
    (".rustup", "RUSTUP_HOME"),
    (".cargo/bin", ""),
    (".sdkman", "SDKMAN_DIR"),
    (".jenv", "JENV_ROOT"),
    (".rbenv", "RBENV_ROOT"),
    (".asdf", "ASDF_DATA_DIR"),
    (".local/share/mise", "MISE_DATA_DIR"),
    (".local/share/uv/python", "UV_PYTHON_INSTALL_DIR"),
    (".local/share/uv/tools", "UV_TOOL_DIR"),
    (".local/share/pipx", ""),
    (".local/pipx", ""),
    (".local/bin", ""),
    (".ghcup", ""),
    (".dotnet", "DOTNET_ROOT"),
    ("go/bin", ""),
    ("bin", ""),
)
# Folders of an installation that tools look for, passed on where they are visible inside.
PLACES = ("JAVA_HOME", "GOROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "ANDROID_HOME", "GRADLE_HOME", "M2_HOME")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
DEFAULT_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class Toolchain(msgspec.Struct, frozen=True, kw_only=True):
    """`mounts` come after the private home; `path` and `env` are for inside. `skipped` are folders of
    the person's PATH that do not exist there, for the brief."""

    mounts: tuple[Mount, ...]
    path: str
    env: dict[str, str]
    skipped: tuple[str, ...] = ()


def detect(
    command: str,
    *,
    environ: Mapping[str, str],
    home: str,
    workdir: str,
    extra: Sequence[str] = (),
    first: Sequence[str] = (),
) -> Toolchain:
    """Look at this machine for what `command` and the person's PATH need.

    `extra` are folders that policy lists, absolute or with `~`; `first` are folders inside that lead the
    PATH there. Raises ValueError for one of `extra` that is home itself or a place of secrets.
    """
    known, env = _known(environ, home)
    wanted = [*(listed(path, home) for path in extra), *known]
    path = [entry for entry in environ.get("PATH", "").split(":") if os.path.isabs(entry)]
    wanted += [install_root(entry, home) for entry in path if os.path.isdir(entry)]
    program = shutil.which(command, path=environ.get("PATH", ""))
    if program is not None:
        wanted += needed_by(os.path.abspath(program), environ.get("PATH", ""), home)
    roots = _outermost(_mountable(wanted, home, workdir))
    visible = (*SYSTEM, workdir, *roots)
    env = {name: folder for name, folder in env.items() if _in_any(folder, visible)}
    env |= {name: environ[name] for name in PLACES if name in environ and _in_any(environ[name], visible)}
    there = [entry for entry in dict.fromkeys(path) if _in_any(entry, visible)]
    return Toolchain(
        mounts=(*(_ro(root) for root in roots), *credentials.masks(roots, home)),
        path=":".join(dict.fromkeys([*first, *there, *DEFAULT_PATH])),
        env=env,
        skipped=tuple(entry for entry in dict.fromkeys(path) if entry not in there),
    )


def _known(environ: Mapping[str, str], home: str) -> tuple[list[str], dict[str, str]]:
    """The folders of well-known tools that are there, and the variables that lead to them."""
    folders: list[str] = []
    env: dict[str, str] = {}
    for name, variable in KNOWN:
        folder = (environ.get(variable) if variable else None) or os.path.join(home, name)
        if os.path.isdir(folder):
            folders.append(folder)
            env |= {variable: folder} if variable else {}
    return folders, env


def listed(path: str, home: str) -> str:
    """The absolute path of a folder that policy lists. Raises ValueError for one that must not be mounted."""
    absolute = os.path.normpath(os.path.join(home, path[2:]) if path.startswith("~/") else path)
    if not os.path.isabs(absolute):
        raise ValueError(f"mount {path!r}: the path must be absolute or start with ~/")
    if credentials.is_secret(os.path.realpath(absolute), os.path.realpath(home)):
        raise ValueError(f"mount {path!r}: it is, or holds, a place of logins and keys")
    return absolute


def missing(paths: Iterable[str], home: str) -> list[str]:
    """Those of the folders that policy lists, as it writes them, which are not there: they are left out."""
    return [path for path in paths if not os.path.exists(listed(path, home))]


def _mountable(paths: Iterable[str], home: str, workdir: str) -> list[str]:
    """Those that exist outside what is there anyway, and are no place of secrets (nor lead to one)."""
    kept = []
    for path in dict.fromkeys(map(os.path.normpath, paths)):
        there_anyway = _in_any(path, (*SYSTEM, workdir)) or _in_any(workdir, (path,))
        secret = any(credentials.is_secret(seen, home) for seen in (path, os.path.realpath(path)))
        if os.path.exists(path) and not there_anyway and not secret:
            kept.append(path)
    return kept


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(paths):
        if not _in_any(path, kept):
            kept.append(path)
    return kept


def _in_any(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _ro(path: str) -> Mount:
    return Mount(kind=MountKind.RO, source=path, target=path)
