"""The stage of the demo: a person's repository, an agent's script, servers behind made-up names."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sekisho.demo.process import UpstreamProcess

USER, PASSWORD = "kim", "open-sesame"
PATIENCE, GRACE = 120.0, 15.0  # seconds for one command, and for it to end when it is told to

AGENT = r"""#!/bin/sh
# What an unattended agent might do. Nothing here knows of sekisho.
echo '$ git fetch origin'; git fetch --quiet origin && echo '  fetched'
echo '$ curl https://api.test/status'; curl -sS https://api.test/status
echo '$ (edits hello.py and test_hello.py)'
cat > hello.py <<'END'
def greeting(name):
    return f"Hello, {name}."
END
cat > test_hello.py <<'END'
import unittest

import hello


class GreetingTest(unittest.TestCase):
    def test_it_names_whom_it_greets(self):
        self.assertEqual(hello.greeting("Kim"), "Hello, Kim.")
END
echo '$ python3 -m unittest'; python3 -m unittest || exit
echo '$ git commit -m "Say hello"'; git add hello.py test_hello.py && git commit --quiet -m 'Say hello'
printf 'Publish the greeting for review.' > "$SEKISHO_OUTBOX/purpose.md"
echo '$ git push origin HEAD:refs/heads/hello'; git push origin HEAD:refs/heads/hello
echo '$ curl -d "The greeting is ready." https://api.test/messages'
curl -sS -d 'The greeting is ready.' https://api.test/messages
echo '$ (goes on working)'; echo '# notes' > notes.md; git add notes.md; git commit --quiet -m 'Take notes'
"""


class Stage(msgspec.Struct, frozen=True):
    """Where the demo plays. `home` is the state folder of its own installation."""

    upstream: UpstreamProcess
    home: Path
    repository: Path
    policy: Path
    agent: Path

    def sekisho(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command as the person would, in the repository; what it prints is returned."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("SEKISHO_", "GIT_"))}
        process = subprocess.Popen(
            [sys.executable, "-I", "-m", "sekisho", *words],
            cwd=self.repository,
            env=environ | {"SEKISHO_HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # in the order in which a person sees it
            text=True,
        )
        with process:
            try:
                printed, _ = process.communicate(timeout=PATIENCE)
            except BaseException:
                _end(process)
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, printed)


def _end(process: subprocess.Popen[str]) -> None:
    """It has a session to tidy up; what it works in is removed next."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=GRACE)
    except BaseException:
        process.kill()
        raise


@contextmanager
def set_up(folder: Path) -> Iterator[Stage]:
    """Build everything below `folder`, which must be empty, and start the servers."""
    upstream = UpstreamProcess(
        ("git.test", "api.test"), folder / "upstream", {USER: PASSWORD}, repositories=("hello.git",)
    )
    with upstream:
        home = folder / "home"
        home.mkdir(mode=0o700)
        agent = folder / "agent.sh"
        agent.write_text(AGENT)
        policy = folder / "sekisho.toml"
        policy.write_text(_policy(upstream))
        repository = _repository(folder / "repository", upstream)
        yield Stage(upstream, home, repository, policy, agent)


def _policy(upstream: UpstreamProcess) -> str:
    pins = ", ".join(f"{json.dumps(name)} = {json.dumps(at)}" for name, at in upstream.resolve().items())
    return f"version = 1\n\n[network]\nresolve = {{ {pins} }}\nca = {json.dumps(str(upstream.ca_file))}\n"


def _repository(path: Path, upstream: UpstreamProcess) -> Path:
    """With one commit that the forge has too, and the person's login for the forge in git's own store."""
    logins = path.parent / "logins"
    logins.touch(mode=0o600)
    logins.write_text(
        f"https://{USER}:{PASSWORD}@git.test\nhttps://{USER}:{PASSWORD}@git.test:{upstream.port}\n"
    )
    path.mkdir()
    _git(path, "init", "--quiet", "--initial-branch=main")
    for key, value in {
        "user.name": "Kim Person",
        "user.email": "kim@example.com",
        "credential.helper": f"store --file={logins}",
    }.items():
        _git(path, "config", key, value)
    (path / "README.md").write_text("# hello\n")
    (path / ".gitignore").write_text("__pycache__/\n")
    _git(path, "add", ".")
    _git(path, "commit", "--quiet", "-m", "Begin")
    _git(path, "push", "--quiet", str(upstream.repositories / "hello.git"), "main")
    _git(path, "remote", "add", "origin", "https://git.test/hello.git")
    return path


def _git(path: Path, *words: str) -> None:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(["git", "-C", str(path), *words], env=environ, check=True, stdin=subprocess.DEVNULL)
