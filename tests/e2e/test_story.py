"""The main job, from the agent's first read to the person's repository."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.e2e.world import World
from tests.support.git import git_output
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]

AGENT = """
set -u
git fetch --quiet origin && echo fetched
curl -sS https://api.test/status
grep -c stopped "$SEKISHO_BRIEF"
echo 'print("hi")' > hi.py && python3 hi.py
git add hi.py && git commit --quiet -m 'Say hi'
printf 'Let the team review the greeting.' > "$SEKISHO_OUTBOX/purpose.md"
git push origin HEAD:refs/heads/agent/hi; echo "push $?"
curl -sS -d 'It is ready.' https://api.test/messages; echo "post $?"
echo later > later.txt && git add later.txt && git commit --quiet -m 'Go on working'
exit 7
"""


def test_the_whole_story(world: World) -> None:
    """Reads pass, writes are held with evidence, approved once, executed once, and taken over."""
    session = world.run(AGENT)

    # What the agent saw.
    assert session.status == 7
    assert session.out.splitlines()[0] == "fetched"
    assert '"path": "/status"' in session.out
    assert "push 1" in session.out
    assert "post 0" in session.out
    assert "! [remote rejected] HEAD -> agent/hi (held: approval H-" in session.err
    assert "sekisho: held (H-" in session.out

    # What the upstream saw: not one write, not even a question for one.
    assert world.writes() == []
    assert world.pushes() == []

    push, post = sorted(world.holds(session), key=lambda hold: hold["verb"])
    assert (push["verb"], push["state"], push["count"]) == ("git.push", "pending", 1)
    assert (post["verb"], post["state"], post["count"]) == ("http.post", "pending", 1)
    assert session.summary["outcome"] == "held"
    assert set(session.summary["held"]) == {push["id"], post["id"]}
    assert session.summary["status"] == 7

    shown = world.told("approvals", "show", push["id"], "--diff").out
    assert "Let the team review the greeting." in shown
    assert "Say hi" in shown
    assert '+print("hi")' in shown
    assert "git push https://git.test/x.git --delete refs/heads/agent/hi" in shown

    world.approve(push)
    world.approve(post)
    commit = world.remote("refs/heads/agent/hi")
    assert git_output("log", "-1", "--format=%s", commit, cwd=world.repository) == "Say hi"
    (sent,) = world.writes()
    assert (sent["path"], sent["size"]) == ("/messages", 12)
    assert sent["sha256"] == hashlib.sha256(b"It is ready.").hexdigest()
    assert len([r for r in world.pushes() if r["method"] == "POST"]) == 1

    # A used approval is used.
    assert "is done" in world.approve(push, status=1).err
    assert "is done" in world.approve(post, status=1).err
    assert len(world.writes()) == 1
    assert "the journal is whole" in world.told("audit", "verify").out

    # The work comes over, and the person's uncommitted edit is untouched.
    assert "later.txt" in world.told("sessions", "diff", session.id, "--stat").out
    world.told("sessions", "apply", session.id, "--branch", "taken")
    assert git_output("show", "taken:later.txt", cwd=world.repository) == "later"
    assert "not committed yet" in (world.repository / "README.md").read_text()


def test_reads_hold_nothing(world: World) -> None:
    before = len(world.holds())
    session = world.run(
        """
        git ls-remote origin >/dev/null && git clone --quiet https://git.test/x.git /tmp/x && echo cloned
        curl -sSf https://api.test/a -o /dev/null && curl -sSIf https://api.test/b -o /dev/null && echo read
        curl -sSf 'https://api.test/big?mb=3' | wc -c
        python3 - <<'E'
import http.server, threading, urllib.request
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("local", urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").status)
E
        """
    )
    assert session.out.split() == ["cloned", "read", str(3 << 20), "local", "200"]
    assert len(world.holds()) == before
    assert session.summary["outcome"] == "clean"


def test_the_person_finds_everything_again(world: World) -> None:
    """`sessions list` and `show`, in both forms, and the summary's handoff are one story."""
    session = world.run("echo x > x.txt; curl -sS -d a=1 https://api.test/again >/dev/null")
    (hold,) = world.holds(session)
    records = json.loads(world.told("sessions", "list", "--json").out)
    assert records[0]["id"] == session.id
    assert records[0]["state"] == "ended"
    assert hold["id"] in world.told("sessions", "show", session.id).out
    assert json.loads(world.told("sessions", "show", session.id, "--json").out) == session.handoff
    assert (
        session.handoff["changed_files"] == ["README.md", "x.txt"]
        or "x.txt" in session.handoff["changed_files"]
    )
    assert hold["id"] in world.told("approvals", "list").out
    listed = world.told("approvals", "list", "--all", "--json", "--session", session.id).out
    assert json.loads(listed) == [hold]
    assert Path(session.summary["handoff"]).with_suffix(".md").read_text().count(hold["id"]) >= 3
