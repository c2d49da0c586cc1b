"""TLS at a port of the person's machine: looked into as at any host, and written to once approved."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sekisho.demo import Upstream
from tests.e2e.world import World
from tests.support.git import run_git
from tests.support.needs import needs
from tests.support.upstream import PASSWORD, USER

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]
NAMES = ("localhost", "127.0.0.1", "a.localhost")


def opened(world: World, own: Upstream, *, trusted: bool = True) -> None:
    """Let the port in; its authority is trusted beside the world's, or not."""
    policy = world.policy.read_text()
    if trusted:
        both = world.folder / "authorities.pem"
        both.write_bytes(world.upstream.ca_file.read_bytes() + own.ca_file.read_bytes())
        policy = policy.replace(str(world.upstream.ca_file), str(both))
    world.policy.write_text(f"{policy}\n[[network.local]]\nport = {own.port}\n")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Upstream]:
    """A development server of the person's, with a certificate for `localhost`."""
    with Upstream(("localhost",), tmp_path / "own", {USER: PASSWORD}) as made:
        yield made


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "a.localhost"])
def test_it_is_read_at_once_and_written_to_once_approved(world: World, own: Upstream, name: str) -> None:
    opened(world, own)
    url = f"https://{name}:{own.port}"
    session = world.run(
        f"""
        curl -sS -o /dev/null -w '%{{http_code}}\n' {url}/own-read
        curl -sS -o /dev/null -w '%{{http_code}}\n' -d by=it {url}/own-write
        """
    )
    assert session.out.split() == ["200", "403"], session.err
    assert [explained(world, method, f"{url}/own") for method in ("GET", "POST")] == ["allow", "hold"]
    assert [(r["method"], r["path"]) for r in own.journal.requests()] == [("GET", "/own-read")]
    world.approve(hold := world.hold(session))
    assert world.state(hold) == "done"
    assert [(r["scheme"], r["path"]) for r in own.journal.writes()] == [("https", "/own-write")]


def explained(world: World, method: str, url: str) -> str:
    told = world.told("explain", "--json", "--policy", world.policy, "--http", method, url)
    return str(told.json()["verdict"])


def test_a_push_to_it_is_held_and_sent_once_approved(
    world: World, own: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sekisho.demo.server._FORGES", {"git", "localhost"})
    own.forge.create("own.git")
    opened(world, own)
    logins = world.folder / "logins-of-localhost"
    logins.write_text(f"https://{USER}:{PASSWORD}@localhost:{own.port}\n")
    run_git("config", "--add", "credential.helper", f"store --file={logins}", cwd=world.repository)
    session = world.run(
        f"git push -q https://localhost:{own.port}/own.git HEAD:refs/heads/own; echo $? $(git rev-parse HEAD)"
    )
    status, head = session.out.split()
    assert status == "1", session.err
    assert "(held: approval H-" in session.err
    assert run_git("for-each-ref", cwd=own.repositories / "own.git").stdout == ""
    world.approve(hold := world.hold(session))
    assert world.state(hold) == "done"
    arrived = run_git("rev-parse", "refs/heads/own", cwd=own.repositories / "own.git").stdout.strip()
    assert arrived == head


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_push_to_a_remote_of_the_repository_there_is_held_and_the_remote_read_with_the_login(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, private: bool
) -> None:
    monkeypatch.setattr("sekisho.demo.server._FORGES", {"git", "localhost", "127"})
    repositories = ("own.git",) if private else ()
    with Upstream(("localhost",), tmp_path / "own", {USER: PASSWORD}, private=repositories) as own:
        own.forge.create("own.git")
        opened(world, own)
        logins = tmp_path / "logins"
        hosts = ("localhost", "127.0.0.1")
        logins.write_text("".join(f"https://{USER}:{PASSWORD}@{host}:{own.port}\n" for host in hosts))
        run_git("config", "--add", "credential.helper", f"store --file={logins}", cwd=world.repository)
        remote = f"own-{own.port}"
        run_git("remote", "add", remote, f"https://{name}:{own.port}/own.git", cwd=world.repository)
        session = world.run(f"git push -q {remote} HEAD:refs/heads/own; echo $? $(git rev-parse HEAD)")
        status, head = session.out.split()
        assert status == "1", session.err
        assert "(held: approval H-" in session.err
        asked = own.journal.requests()
        assert all("git-receive-pack" not in request["path"] for request in asked)
        assert asked[0]["user"] == USER
        world.approve(hold := world.hold(session))
        assert world.state(hold) == "done"
        arrived = run_git("rev-parse", "refs/heads/own", cwd=own.repositories / "own.git").stdout.strip()
        assert arrived == head


def test_one_with_a_certificate_that_nobody_vouches_for_gets_not_a_byte_of_a_request(
    world: World, own: Upstream
) -> None:
    opened(world, own, trusted=False)
    url = f"https://localhost:{own.port}"
    session = world.run(f"curl -sS {url}/own-read; curl -sS -d by=it {url}/own-write")
    assert "no connection to 127.0.0.1: Certificate verify failed" in session.out
    assert world.approve(hold := world.hold(session), status=1)
    assert world.state(hold) == "approved"
    assert own.journal.requests() == []
