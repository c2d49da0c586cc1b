"""What `explain` says about a push is what becomes of it in a session."""

import json

import pytest

from tests.e2e.world import Session, World
from tests.support.git import run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]

RULES = """
[git]
push = [{ ref = "agent/*", gate = "auto" }, { ref = "secret/*", gate = "never" }]
"""
# The words of a push, and the verdict of both.
PUSHES = {
    "origin agent/x": "allow",
    "origin HEAD:refs/heads/agent/y": "allow",
    "origin HEAD:agent/z": "allow",
    "origin HEAD:refs/heads/other": "hold",
    "origin agent/x:refs/heads/agent/w HEAD:refs/heads/also": "hold",
    "origin HEAD:refs/heads/secret/x": "deny",
    "origin HEAD:refs/tags/agent/v1": "hold",
    "--force origin HEAD~3:refs/heads/agent/side": "hold",
    "--force origin HEAD~3:refs/heads/main": "deny",
    "origin :agent/side": "hold",
    "origin :main": "deny",
    "-o ci.skip origin HEAD:refs/heads/agent/options": "hold",
}


@pytest.fixture(scope="module")
def pushed(world: World) -> Session:
    """One session that makes every push."""
    bare = str(world.upstream.repositories / "x.git")
    run_git("push", "--quiet", bare, "main~1:refs/heads/agent/side", cwd=world.repository)
    run_git("commit", "--quiet", "--all", "-m", "Save", cwd=world.repository)
    run_git("branch", "agent/x", cwd=world.repository)
    world.policy.write_text(world.policy.read_text() + RULES)
    tries = "\n".join(
        f"git push {words} > /tmp/said 2>&1; echo {number} $? $(cat /tmp/said)"
        for number, words in enumerate(PUSHES)
    )
    return world.run(f"git fetch --quiet origin; git branch -f agent/x HEAD\n{tries}")


def on_the_wire(session: Session, words: str) -> str:
    number = list(PUSHES).index(words)
    (said,) = [line for line in session.out.splitlines() if line.startswith(f"{number} ")]
    if said.split()[1] == "0":
        return "allow"
    return "deny" if "(denied:" in said else "hold" if "(held:" in said else said


@pytest.mark.parametrize("words", PUSHES)
def test_explain_says_what_becomes_of_it(world: World, pushed: Session, words: str) -> None:
    asked = world.told("explain", "--json", "--policy", world.policy, "--", "git", "push", *words.split())
    answer = json.loads(asked.out)
    assert on_the_wire(pushed, words) == PUSHES[words]
    assert answer["verdict"] == PUSHES[words]
