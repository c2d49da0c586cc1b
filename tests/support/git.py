"""git for tests: nobody's configuration, a fixed person, no prompts."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

PERSON = {
    "GIT_AUTHOR_NAME": "Kim Person",
    "GIT_AUTHOR_EMAIL": "kim@example.com",
    "GIT_COMMITTER_NAME": "Kim Person",
    "GIT_COMMITTER_EMAIL": "kim@example.com",
}


def git_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment in which git reads no configuration but the repository's; `more` is added."""
    base = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }
    return base | PERSON | dict(more or {})


def run_git(
    *args: str, cwd: Path, check: bool = True, timeout: float = 60, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run git in `cwd`; `env` is added to its environment. With `check`, failure fails the test."""
    done = subprocess.run(
        ["git", *args],
        cwd=cwd,
        env=git_environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)} ended with {done.returncode}: {done.stderr}")
    return done


def git_output(*args: str, cwd: Path) -> str:
    """What git prints, without the newline at its end."""
    return run_git(*args, cwd=cwd).stdout.rstrip("\n")
