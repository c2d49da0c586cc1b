"""A Python with this project and its dependencies that every user of the machine can run.

A version manager's Python below /root, or a checkout below somebody's home, is out of reach for another
uid. Its files are linked (copied across file systems) into a folder below /tmp, once for each state of the
environment; the project's own packages are copied for each run.
"""

import hashlib
import os
import shutil
import stat
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2]
_PACKAGES = ("sekisho", "shim", "netpolicy", "sandbox", "images", "tests")
_LEFT_OUT = frozenset({"__pycache__", "test", "idlelib", "tkinter", "turtledemo", "ensurepip"})


def cache_folder() -> Path:
    """A folder of this user's below /tmp that all can read. Raises PermissionError if it is not ours."""
    folder = Path(f"/tmp/sekisho-tests-{os.geteuid()}")
    folder.mkdir(mode=0o755, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    folder.chmod(0o755)
    return folder


def readable_interpreter(folder: Path) -> Path:
    """A Python whose files, dependencies and project all users can read; `folder` holds this run's part."""
    base = _base()
    source = folder / "source"
    for package in filter(lambda name: (_PROJECT / name).is_dir(), _PACKAGES):
        shutil.copytree(_PROJECT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    library = folder / "python" / "lib" / _version_folder() / "site-packages"
    library.mkdir(parents=True)
    (library / "project.pth").write_text(f"{source}\n{base / 'dependencies'}\n")
    executable = folder / "python" / "bin" / "python"
    executable.parent.mkdir()
    executable.symlink_to(base / "bin" / "python")
    (folder / "python" / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    return executable


def _base() -> Path:
    """The interpreter and the dependencies, made once for each state of this environment."""
    dependencies = Path(sysconfig.get_path("purelib"))
    state = f"{sys.version} {sys.base_prefix} {dependencies} {dependencies.stat().st_mtime_ns}"
    base = cache_folder() / f"python-{hashlib.sha256(state.encode()).hexdigest()[:16]}"
    if base.exists():
        return base
    making = base.with_name(f"{base.name}.{os.getpid()}")
    shutil.rmtree(making, ignore_errors=True)
    standard = Path(sysconfig.get_path("stdlib"))
    _link_tree(standard, making / "lib" / _version_folder(), _LEFT_OUT | {"site-packages", "dist-packages"})
    _link_tree(dependencies, making / "dependencies", frozenset({"__pycache__"}))
    _install_executable(making)
    _publish(making, base)
    return base


def _publish(making: Path, base: Path) -> None:
    try:
        making.rename(base)
    except OSError:
        # Another run was first; its folder is the same.
        shutil.rmtree(making)


def _version_folder() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def _install_executable(base: Path) -> None:
    """The interpreter; one with a shared library looks for it beside itself instead of at the old place."""
    content = Path(sys.executable).resolve().read_bytes()
    shared = str(sysconfig.get_config_var("LDLIBRARY")).endswith(".so")
    folder = Path(sysconfig.get_config_var("LIBDIR"))
    if shared and Path(sys.base_prefix) in folder.parents:
        for library in folder.glob("libpython*.so*"):
            _link(library, base / "lib" / library.name)
        old = f"{folder}\0".encode()
        content = content.replace(old, b"$ORIGIN/../lib".ljust(len(old), b"\0"))
    executable = base / "bin" / "python"
    executable.parent.mkdir()
    executable.write_bytes(content)
    executable.chmod(0o755)


def _link_tree(source: Path, target: Path, leave_out: frozenset[str]) -> None:
    for path in _files(source, leave_out):
        _link(path, target / path.relative_to(source))


def _files(folder: Path, leave_out: frozenset[str]) -> Iterator[Path]:
    for entry in os.scandir(folder):
        # An editable install's file leads to a checkout that others may not be able to read.
        if entry.name in leave_out or entry.name.startswith("__editable__"):
            continue
        if entry.is_dir():
            yield from _files(Path(entry.path), leave_out)
        else:
            yield Path(entry.path)


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    real = source.resolve()
    try:
        os.link(real, target)
    except OSError:
        shutil.copy2(real, target)
