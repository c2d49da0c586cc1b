"""The agent cannot approve: nothing of what an approval takes is within its reach."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.e2e.world import Session, World, make_world
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl", "python3")]

# Reads every file it can reach, and reports which of the wanted byte strings are in one.
SEARCH = r"""
import json, os, stat, sys
wanted = {name: bytes.fromhex(text) for name, text in json.loads(sys.argv[1]).items()}
found, sockets, ledgers = {}, [], []
for top, folders, names in os.walk("/"):
    folders[:] = [
        f for f in folders
        if os.path.join(top, f) not in ("/proc", "/sys", "/usr", "/lib") and f not in ("lib", "node_modules")
    ]
    for name in names:
        path = os.path.join(top, name)
        try:
            kind = os.lstat(path).st_mode
            if stat.S_ISSOCK(kind):
                sockets.append(path)
            if name.startswith("ledger.db") or name in ("approval.key", "journal.key"):
                ledgers.append(path)
            if not stat.S_ISREG(kind):
                continue
            with open(path, "rb") as file:
                content = file.read(1 << 26)
        except OSError:
            continue
        found.update({label: path for label, secret in wanted.items() if secret in content})
for process in filter(str.isdigit, os.listdir("/proc")):
    for part in ("environ", "cmdline"):
        try:
            with open(f"/proc/{process}/{part}", "rb") as file:
                content = file.read()
        except OSError:
            continue
        found.update({label: part for label, secret in wanted.items() if secret in content})
print(json.dumps({"found": found, "sockets": sockets, "ledgers": ledgers}))
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("inside")) as made:
        yield made


@pytest.fixture(scope="module")
def held(world: World) -> Session:
    return world.run("curl -sS -o /dev/null -d a=1 https://api.test/wanted")


PARTS = ("search", "approve", "decide")
SCRIPT = r"""
printf %s canary-of-the-search > canary.txt
echo part search; python3 -c "$1" "$2"
echo part approve
(sekisho approvals approve "$3" || python3 -m sekisho approvals approve "$3") 2>&1
echo "status $?"; ls "$4" 2>&1
echo part decide
mkdir -p "$SEKISHO_OUTBOX/decisions" ; echo '{"state": "approved"}' \
  > "$SEKISHO_OUTBOX/decisions/$3.json" && echo written
rm -rf "$SEKISHO_OUTBOX/decisions" 2>/dev/null && echo removed
curl -sS -o /dev/null -w '%{http_code}\n' -d a=1 https://api.test/wanted
"""


@pytest.fixture(scope="module")
def attacked(world: World, held: Session) -> dict[str, str]:
    """What each attack of one session said."""
    state = world.sekisho.home / "state"
    wanted = {
        "approval key": (state / "approval.key").read_bytes(),
        "journal key": (state / "journal.key").read_bytes(),
        "authority key": b"PRIVATE KEY-----\n" + key_line(world),
        "login": b"open-sesame",
        "canary": b"canary-of-the-search",
    }
    arguments = json.dumps({name: secret.hex() for name, secret in wanted.items()})
    words = [SEARCH, arguments, world.hold(held)["id"], str(world.sekisho.home)]
    session = world.run(["bash", "-c", SCRIPT, "agent", *words])
    said = re.split(r"^part (\w+)\n", session.out, flags=re.MULTILINE)[1:]
    assert tuple(said[::2]) == PARTS, session.err
    return dict(zip(PARTS, said[1::2], strict=True))


def key_line(world: World) -> bytes:
    """The first line of the authority's private key."""
    text = (world.sekisho.home / "state" / "authority" / "mitmproxy-ca.pem").read_bytes()
    return text.split(b"PRIVATE KEY-----\n", 1)[1].split(b"\n", 1)[0]


def still_waits(world: World, held: Session) -> bool:
    return bool(world.state(world.hold(held)) == "pending" and not world.writes())


def test_no_key_ledger_or_socket_is_in_reach(attacked: dict[str, str]) -> None:
    seen = json.loads(attacked["search"])
    assert set(seen["found"]) == {"canary"}, seen
    assert seen["ledgers"] == []
    assert [path for path in seen["sockets"] if "agent.sock" not in path] == []


def test_the_approve_command_inside_reaches_no_ledger(
    world: World, held: Session, attacked: dict[str, str]
) -> None:
    """With the product's own code at hand, the agent still has nothing to approve with."""
    assert "status 0" not in attacked["approve"]
    assert "status " in attacked["approve"]
    assert "No such file" in attacked["approve"]
    assert still_waits(world, held)


def test_a_decision_file_written_inside_decides_nothing(
    world: World, held: Session, attacked: dict[str, str]
) -> None:
    assert attacked["decide"] == "403\n"
    assert still_waits(world, held)
