"""How fast commands are answered on the agent's socket: inside a real session, one caller and many.

The CPU column is the gatekeeper's own time for one answer; it hardly depends on what else the machine does.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from bench.measure import last_line

_CALLERS = (1, 32)
_SECONDS = 3.0
_WANTED = {1: "0.2 / 2", 32: "- / 10"}  # milliseconds, p50 / p99


def run(console: Console, seconds: float = _SECONDS) -> None:
    """Measure and print."""
    table = Table(title="Announced commands that read", title_justify="left", box=None)
    for heading in ("callers", "commands", "p50 ms", "p99 ms", "p50 / p99 wanted", "a second", "CPU us each"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        for callers in _CALLERS:
            for fresh in (False, True):
                found = _measured(Path(folder), callers, seconds, fresh=fresh)
                table.add_row(
                    str(callers),
                    "all different" if fresh else "a few, again and again",
                    f"{found['p50'] * 1e3:.2f}",
                    f"{found['p99'] * 1e3:.2f}",
                    _WANTED[callers],
                    f"{found['count'] / found['seconds']:.0f}",
                    f"{found['cpu'] / found['count'] * 1e6:.0f}",
                )
    console.print(table)
    console.print()


def _measured(root: Path, callers: int, seconds: float, *, fresh: bool) -> dict[str, Any]:
    repository = _repository(root / "repository")
    script = Path(__file__).with_name("askers.py")
    shutil.copy(script, repository)
    words = ["/usr/bin/python3", "askers.py", str(callers), str(seconds), str(int(fresh))]
    with subprocess.Popen(
        [sys.executable, "-I", "-m", "sekisho", "run", "--", *words],
        cwd=repository,
        env=_environment(root),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise SystemExit(last_line(process.communicate()[1]))
        gatekeeper = _gatekeeper(process.pid)
        before = sum(gatekeeper.cpu_times()[:2])
        process.stdin.write("\n")
        process.stdin.flush()
        found: dict[str, Any] = json.loads(process.stdout.readline())
        found["cpu"] = sum(gatekeeper.cpu_times()[:2]) - before
        process.communicate("\n", timeout=60)
    return found


def _gatekeeper(launcher: int) -> psutil.Process:
    for child in psutil.Process(launcher).children(recursive=True):
        if "sekisho.broker" in child.cmdline():
            return child
    raise SystemExit("the session has no gatekeeper")


def _environment(root: Path) -> dict[str, str]:
    home = root / "home"
    home.mkdir(exist_ok=True)
    own = {"HOME": str(home), "SEKISHO_HOME": str(root / "sekisho"), "GIT_CONFIG_NOSYSTEM": "1"}
    return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **own}


def _repository(folder: Path) -> Path:
    if not folder.exists():
        folder.mkdir()
        for number in range(300):
            (folder / f"file{number}.txt").write_text(f"{number}\n")
        git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
        for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "Begin"]):
            subprocess.run([*git, *words], cwd=folder, check=True, timeout=60)
    return folder
