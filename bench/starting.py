"""What starting costs: from the call to the command's first output, in a repository of 2,000 files."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from bench import parts
from bench.measure import NotAvailable, compare, last_line, seconds, show
from bench.runtime import sandbox_runtime
from sekisho.store.spreading import spread

_BASE = "bwrap alone"
_FILES = 2000
_SAY = ["echo", "hello"]


def run(console: Console, rounds: int, cache: Path) -> None:
    """Measure and print. `cache` keeps what npm installs for the comparison.

    Everything lies below it, on the disk of a person's home: where sessions are, and where less was deleted
    lately than in /tmp (see `_clone`).
    """
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        root = Path(folder)
        repository = _repository(root / "repository")
        environment = _environment(root)
        clones = root / "clones"
        clones.mkdir()
        spread(clones)  # as sessions are
        contestants = {
            "no sandbox": _first_output(_SAY, repository, environment),
            _BASE: _first_output([*_bwrap(repository), *_SAY], repository, environment),
            "git clone --shared": _clone(repository, clones, environment),
            "a session's clone": parts.clone(repository, clones),
            "a session's sandbox": parts.sandbox(repository, _SAY),
            "sekisho run": _first_output(_sekisho(), repository, environment),
            "sandbox-runtime": _other(cache, repository, environment),
        }
        outcome = compare(contestants, rounds)
        show(console, f"Start to first output, {_FILES:,} files", "ms", outcome, _BASE, scale=1000)


def _sekisho() -> list[str]:
    return [sys.executable, "-I", "-m", "sekisho", "run", "--", *_SAY]


def _bwrap(repository: Path) -> list[str]:
    links = [word for name in ("bin", "lib", "lib64") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    view = ["--ro-bind", "/usr", "/usr", *links, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    return ["bwrap", "--unshare-all", "--die-with-parent", *view, "--bind", *[str(repository)] * 2, "--"]


def _other(cache: Path, repository: Path, environment: Mapping[str, str]) -> Callable[[], float]:
    def measured() -> float:
        argv = [*sandbox_runtime(cache), *_SAY]
        return _first_output(argv, repository, environment)()

    return measured


def _first_output(argv: list[str], cwd: Path, environment: Mapping[str, str]) -> Callable[[], float]:
    def measured() -> float:
        started = time.perf_counter()
        with subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            first = os.read(process.stdout.fileno(), 1)
            taken = time.perf_counter() - started
            _, error = process.communicate(timeout=60)
        if not first or process.returncode:
            raise NotAvailable(
                last_line(error.decode("utf-8", "replace"))
                or f"ended with {process.returncode} and no output"
            )
        return taken

    return measured


def _clone(repository: Path, folder: Path, environment: Mapping[str, str]) -> Callable[[], float]:
    """Each clone goes into a folder of its own, and all stay until the end: before ext4 gives out an inode
    it looks at each that was deleted in the last minutes, which slows whoever comes next up to fivefold."""

    def measured() -> float:
        target = tempfile.mkdtemp(dir=folder)
        argv = ["git", "clone", "--quiet", "--shared", str(repository), target]
        return seconds(lambda: subprocess.run(argv, check=True, env=dict(environment), timeout=60))

    return measured


def _environment(root: Path) -> dict[str, str]:
    home = root / "home"
    home.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "SEKISHO_HOME": str(root / "sekisho"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
    }


def _repository(folder: Path) -> Path:
    for number in range(_FILES):
        path = folder / f"package{number // 100}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE = {number}\n" * 20)
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "Begin"]):
        subprocess.run([*git, *words], cwd=folder, check=True, timeout=60)
    return folder
