"""A port of the person's machine: read from inside, written to once a person approved it."""

import pytest

from tests.e2e.world import World
from tests.support.git import run_git
from tests.support.needs import needs
from tests.support.upstream import PASSWORD, USER

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]


def test_held_writes_to_a_named_port_arrive_once_they_are_approved(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sekisho.demo.server._FORGES", {"git", "localhost"})
    port = world.upstream.port
    world.policy.write_text(world.policy.read_text() + f"\n[[network.local]]\nport = {port}\n")
    logins = world.folder / "logins-of-localhost"
    logins.write_text(f"http://{USER}:{PASSWORD}@localhost:{port}\n")
    run_git("config", "--add", "credential.helper", f"store --file={logins}", cwd=world.repository)
    session = world.run(
        f"""
        curl -sS -o /dev/null -w '%{{http_code}}\\n' http://127.0.0.1:{port}/own-read
        curl -sS -o /dev/null -w '%{{http_code}}\\n' -d a=1 http://127.0.0.1:{port}/own-write
        git push -q http://localhost:{port}/x.git HEAD:refs/heads/own
        echo pushed $? $(git rev-parse HEAD)
        """
    )
    *answers, head = session.out.split()
    assert answers == ["200", "403", "pushed", "1"], session.err
    assert world.writes("127.0.0.1") == []
    assert world.remote("refs/heads/own") == "0" * 40
    for hold in world.holds(session):
        world.approve(hold)
        assert world.state(hold) == "done"
    assert [w["path"] for w in world.writes("127.0.0.1")] == ["/own-write"]
    assert world.remote("refs/heads/own") == head
