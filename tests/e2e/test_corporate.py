"""Where the way out leads through a corporate proxy with a login: reads, approved writes and pushes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.world import ZERO, World
from tests.support.connectproxy import ConnectProxy, connect_proxy
from tests.support.git import run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]

SCRIPT = """
curl -sS https://api.test/status/200 -o /dev/null -w 'read %{http_code}\\n'
curl -sS https://api.prod.test/status/200 -o /dev/null -w 'pinned %{http_code}\\n'
curl -sS -d body https://api.test/status/201 -o /dev/null -w 'write %{http_code}\\n'
echo c > c.txt; git add c.txt; git commit --quiet -m Corporate
git push origin HEAD:refs/heads/corporate 2>/dev/null; echo "git $?"
"""


@pytest.fixture
def proxy(world: World) -> Iterator[ConnectProxy]:
    at = (world.upstream.address, world.upstream.port)
    with connect_proxy({"api.test:443": at, "git.test:443": at}) as made:
        yield made


@pytest.fixture
def policy(world: World, tmp_path: Path) -> Path:
    """Only `api.prod.test` is pinned; the other names are known to nobody but the proxy."""
    written = tmp_path / "sekisho.toml"
    pin = json.dumps(f"{world.upstream.address}:{world.upstream.port}")
    ca = json.dumps(str(world.upstream.ca_file))
    written.write_text(f'version = 1\n[network]\nresolve = {{ "api.prod.test" = {pin} }}\nca = {ca}\n')
    return written


def test_everything_but_what_is_pinned_goes_through_it(
    world: World, proxy: ConnectProxy, policy: Path
) -> None:
    session = world.run(SCRIPT, "--policy", policy, HTTPS_PROXY=proxy.url)
    assert "read 200" in session.out, session.out + session.err
    assert "pinned 200" in session.out
    assert "write 403" in session.out
    assert "git 1" in session.out
    assert set(proxy.asked) == {"api.test:443", "git.test:443"}
    for hold in world.holds(session):
        asked = len(proxy.asked)
        world.told("approvals", "approve", hold["id"], HTTPS_PROXY=proxy.url)
        assert len(proxy.asked) > asked
    assert [w["path"] for w in world.writes()] == ["/status/201"]
    assert world.remote("refs/heads/corporate") != ZERO


def test_an_approved_act_whose_way_out_is_closed_stays_approved_until_it_is_open(
    world: World, proxy: ConnectProxy, policy: Path
) -> None:
    script = "curl -sS -d body https://api.test/status/202 -o /dev/null"
    session = world.run(script, "--policy", policy, HTTPS_PROXY=proxy.url)
    hold = world.hold(session)
    wrong = proxy.url.replace("p%40ss", "wrong")
    told = world.told("approvals", "approve", hold["id"], status=1, HTTPS_PROXY=wrong)
    assert "407" in told.out + told.err
    assert world.state(hold) == "approved"
    assert not [w for w in world.writes() if w["path"] == "/status/202"]
    world.told("approvals", "approve", hold["id"], HTTPS_PROXY=proxy.url)
    assert len([w for w in world.writes() if w["path"] == "/status/202"]) == 1


def test_a_pinned_remote_is_pushed_to_directly(world: World, proxy: ConnectProxy) -> None:
    """The world's own policy pins git.test: no proxy may lead there, git's own setting included."""
    script = "git commit --quiet --allow-empty -m Direct; git push origin HEAD:refs/heads/direct 2>&1"
    run_git("config", "http.proxy", proxy.url, cwd=world.repository)
    session = world.run(script, HTTPS_PROXY=proxy.url)
    world.told("approvals", "approve", world.hold(session)["id"], HTTPS_PROXY=proxy.url)
    assert world.remote("refs/heads/direct") != ZERO
    assert proxy.asked == []
