"""`sekisho explain --context sandbox` says of a command what a session does with it."""

import pytest

from tests.e2e.world import World
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]

COMMANDS = (
    "kubectl get pods",
    "sudo ls",
    "ssh there",
    "terraform apply",
    "git status",
    "sh -c true",
)


def test_a_session_denies_what_explain_says_it_has_not(world: World) -> None:
    script = "\n".join(
        f"{command} >/dev/null 2>/tmp/said; grep -c absent-tool /tmp/said" for command in COMMANDS
    )
    seen = [line == "1" for line in world.run(script).out.splitlines()]
    told = []
    for command in COMMANDS:
        asked = ("explain", "--policy", world.policy, "--context", "sandbox", "--json", "--shell", command)
        answer = world.told(*asked).json()
        told.append((answer["verdict"], answer["code"]) == ("deny", "absent-tool"))
    assert seen == told == [True, True, True, True, False, False]
