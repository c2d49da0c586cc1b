"""Logins for reads: the person's commands are asked outside, and the agent never holds what they tell."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.world import World
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]

READS = """
for number in 1 2 3; do curl -sS -o /dev/null -w '%{http_code}\\n' https://api.test/r$number & done; wait
curl -sS -o /dev/null -w '%{http_code}\\n' https://api.github.com/r
env | grep -c told-by-a-command
"""


def policy_with(world: World, folder: Path, value: str) -> Path:
    """The world's policy and a login for reads of api.test."""
    path = folder / "sekisho.toml"
    login = f'[[network.credential]]\nhost = "api.test"\nvalue = "{value}"\nuse = "read"\n'
    path.write_text(world.policy.read_text() + login)
    return path


def _login(request: dict[str, Any]) -> str | None:
    return next((value for name, value in request["headers"] if name.lower() == "authorization"), None)


def test_a_command_is_asked_once_and_only_its_host_gets_the_login(world: World, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    command = tmp_path / "ask"
    command.write_text(f"#!/bin/sh\necho x >>{asked}\nsleep 0.5\necho told-by-a-command\n")
    command.chmod(0o700)
    session = world.run(READS, "--policy", policy_with(world, tmp_path, f"cmd:{command}"))
    assert session.out.split() == ["200"] * 4 + ["0"]
    assert asked.read_text() == "x\n"
    seen = world.upstream.journal.requests(name="api.test")[-3:]
    assert [_login(r) for r in seen] == ["Bearer told-by-a-command"] * 3
    (other,) = [r for r in world.upstream.journal.requests(name="api.github.com") if r["path"] == "/r"]
    assert _login(other) is None


def test_a_command_that_fails_closes_its_host_and_no_other(world: World, tmp_path: Path) -> None:
    before = len(world.upstream.journal.requests(name="api.test"))
    session = world.run(READS, "--policy", policy_with(world, tmp_path, "cmd:false"))
    assert session.out.split() == ["403"] * 3 + ["200", "0"]
    assert len(world.upstream.journal.requests(name="api.test")) == before


def test_a_variable_that_is_unset_is_said_at_the_start_and_counted_at_the_end(
    world: World, tmp_path: Path
) -> None:
    policy = policy_with(world, tmp_path, "env:A_KEY_NOBODY_SET")
    text = '[[network.model]]\nprovider = "anthropic"\nkey = "env:ANOTHER_UNSET"\n'
    policy.write_text(policy.read_text() + text)
    session = world.run(READS, "--policy", policy)
    assert session.out.split() == ["403"] * 3 + ["200", "0"]
    first, *rest = session.err.splitlines()
    assert "[[network.model]] anthropic: the variable ANOTHER_UNSET is not set here" in first
    assert "[[network.credential]] api.test: the variable A_KEY_NOBODY_SET is not set here" in rest[0]
    assert session.summary["outcome"] == "gate-broken"
    (note,) = session.handoff["gate_broken"]
    assert "A_KEY_NOBODY_SET is not set" in note
    assert note.endswith("(3 refused)")
    assert f"  gate broken: {note}" in session.err


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_model_on_the_persons_own_machine_gets_its_key(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("LOCAL_MODEL_KEY", "key-of-the-local-model")
    with _answering() as (port, seen):
        policy = tmp_path / "sekisho.toml"
        model = f'provider = "ollama"\nkey = "env:LOCAL_MODEL_KEY"\nhost = "localhost:{port}"\n'
        more = f"[[network.local]]\nport = {port}\n[[network.model]]\n{model}"
        policy.write_text(world.policy.read_text() + more)
        call = f"curl -sS -d '{{}}' http://{name}:{port}/v1/chat/completions"
        session = world.run(call, "--policy", policy, LOCAL_MODEL_KEY="key-of-the-local-model")
    assert session.out == "answered\n"
    assert seen == ["Bearer key-of-the-local-model"]


@contextmanager
def _answering() -> Iterator[tuple[int, list[str | None]]]:
    """A server on the person's loopback; its port, and the Authorization of each request."""
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.headers.get("Authorization"))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"answered\n")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1], seen
        finally:
            server.shutdown()
            thread.join()
