"""A broken gate closes the outside only: local work and reads go on, nothing recorded is lost.

With each backend where its processes die, whose descriptors and sockets the enclosure holds; with one where
the ledger or its disk breaks, or a hold waits, which no enclosure sees.
"""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.broken import (
    FIN,
    OBEY,
    apart,
    does,
    ends,
    fill,
    headless,
    locked,
    newer,
    scribbled,
    small_disk,
)
from tests.e2e.enclosing import both, left_of
from tests.e2e.world import ZERO, Live, World, descendants, wait_for
from tests.escape.test_enclosure_processes import alive
from tests.support.git import git_output
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]


TROUBLES = {
    "locked": (locked, "locked"),
    "headless": (headless, "head is missing"),
    "scribbled": (scribbled, "not sealed"),
    "newer": (newer, "newer sekisho"),
}


@dataclass(frozen=True)
class Troubled:
    """What a session said while its ledger was in trouble, and what was received meanwhile, in bytes."""

    refused: str
    received: int
    worked: str
    read: str
    pushed: str
    afterwards: str


@pytest.fixture(scope="module")
def troubled(world: World) -> tuple[dict[str, Troubled], dict[str, Any]]:
    """One session that goes through every trouble, and its handoff."""
    before = world.upstream.journal.writes()
    seen = {}
    with world.running(OBEY) as live:
        assert does(live, "read warm") == "200"
        for name, (breaks, _) in TROUBLES.items():
            with breaks(world):
                received = world.upstream.received()
                refused = does(live, f"write {name}")
                received = world.upstream.received() - received
                worked, read = does(live, f"work {name}"), does(live, f"read still-{name}")
                pushed = does(live, f"push {name}")
            afterwards = does(live, f"write well-{name}")
            seen[name] = Troubled(refused, received, worked, read, pushed, afterwards)
        handoff = ends(live)
    assert world.upstream.journal.writes() == before
    assert "the journal is whole" in world.told("audit", "verify").out
    return seen, handoff


@pytest.mark.parametrize("name", TROUBLES)
def test_a_ledger_in_trouble_stops_writes_and_nothing_else(
    world: World, troubled: tuple[dict[str, Troubled], dict[str, Any]], name: str
) -> None:
    seen, handoff = troubled[0][name], troubled[1]
    reason = TROUBLES[name][1]
    assert seen.received <= FIN
    assert "gate broken" in seen.refused
    assert reason in seen.refused
    assert (seen.worked, seen.read) == (f"did {name}", "200")
    assert "gate broken" in seen.pushed
    assert "[remote rejected]" in seen.pushed
    assert "held (H-" in seen.afterwards
    assert any(reason in note for note in handoff["gate_broken"])
    assert name in [commit["subject"] for commit in handoff["commits"]]
    targets = [act["target"] for act in handoff["held"]]
    assert sorted(targets) == sorted(f"https://api.test/well-{trouble}" for trouble in TROUBLES)
    assert world.remote(f"refs/heads/{name}") == ZERO


@both
def test_a_killed_gatekeeper_closes_the_outside_and_comes_back(world: World) -> None:
    with world.running(OBEY) as live:
        assert "held (H-" in does(live, "write before")
        first = live.kill_gatekeeper()
        assert does(live, "work meanwhile") == "did meanwhile"
        killed = time.monotonic()
        assert does(live, "read after") == "200"  # waits in the kernel, on the same sockets
        took = time.monotonic() - killed
        assert live.gatekeeper() != first
        assert "held (H-" in does(live, "write after")
        handoff = ends(live)
    assert took < 8  # about 1 second on an idle machine
    assert any("ended unasked" in note for note in handoff["gate_broken"])
    assert len(handoff["held"]) == 2
    assert not [w for w in world.writes() if w["path"] in ("/before", "/after")]
    assert "gatekeeper.restarted" in world.told("audit", "query", "--session", str(handoff["session"])).out
    assert "the journal is whole" in world.told("audit", "verify").out


def test_one_that_dies_again_and_again_after_the_start_sends_nothing_and_holds_up_no_work(
    world: World,
) -> None:
    """From before it has served at all: it was given the sockets, and the command runs."""
    before = world.upstream.received()
    post = "from urllib.request import urlopen; urlopen('{}://api.test/dead', b'x=1', 1)"
    asks = "; ".join(f'python3 -c "{post.format(scheme)}" 2>&1 | tail -n 1' for scheme in ("http", "https"))
    with world.running(f"echo runs; {OBEY}") as live:
        assert live.says() == "runs"
        with killing(live) as killed:
            asked = does(live, f"do {asks}")
            worked = does(live, "do echo local >dead.txt; cat dead.txt")
        assert killed
        assert asked.count("timed out") == 2, asked
        assert worked.strip() == "local"
        assert world.upstream.received() - before <= FIN
        assert does(live, "read alive") == "200"
        assert "held (H-" in does(live, "write alive")
        handoff = ends(live)
    assert handoff["changed_files"] == ["dead.txt"]
    assert any("ended unasked" in note for note in handoff["gate_broken"])
    # What was sent meanwhile has waited in the kernel, and is held like the rest.
    held = {act["target"] for act in handoff["held"]}
    assert {"https://api.test/alive"} <= held <= {"https://api.test/alive", "http://api.test/dead"}
    assert not [w for w in world.writes() if w["path"] in ("/alive", "/dead")]


@contextmanager
def killing(live: Live) -> Iterator[list[int]]:
    """Kill each gatekeeper as soon as it is there; those that were."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.01):
            with suppress(AssertionError, ProcessLookupError):
                killed.append(live.kill_gatekeeper())

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.mark.alone
def test_a_killed_gatekeeper_is_back_within_two_seconds(world: World) -> None:
    took = []
    with world.running(OBEY) as live:
        assert does(live, "read warm") == "200"
        for _ in range(3):
            live.kill_gatekeeper()
            killed = time.monotonic()
            assert does(live, "read back") == "200"
            took.append(time.monotonic() - killed)
        ends(live)
    assert min(took) < 2, took


@both
def test_a_gatekeeper_killed_under_a_stream_cuts_it_at_once(world: World) -> None:
    script = r"""
    curl -sS -N -m 30 'https://api.test/events?every=1' ; echo "cut $?"
    curl -sS -m 20 -o /dev/null -w '%{http_code}\n' https://api.test/again
    """
    with world.running(script) as live:
        assert live.says() == "id: 1"
        live.kill_gatekeeper()
        killed = time.monotonic()
        while not (line := live.says()).startswith("cut"):
            assert line.startswith(("id:", "data:")) or not line
        assert time.monotonic() - killed < 5
        assert line != "cut 0"
        assert live.says() == "200"
        live.end()


def test_a_gatekeeper_killed_while_a_call_waits_uses_nothing_up(world: World) -> None:
    """The hold stays pending; the client is cut off, not told that it was sent."""
    script = r"""
    curl -sS -m 60 -d x=1 https://api.test/waits; echo "curl $?"
    """
    with world.running(script, "--wait", "30s") as live:
        hold = wait_for(
            lambda: next((h for h in world.holds() if h["target"].endswith("/waits")), None), seconds=20
        )
        live.kill_gatekeeper()
        assert live.says() in ("curl 52", "curl 56", "curl 35", "curl 92")
        live.end()
    assert world.state(hold) == "pending"
    assert not [w for w in world.writes() if w["path"] == "/waits"]


@both
def test_a_killed_launcher_leaves_nothing_alive_and_a_handoff(world: World) -> None:
    mark = f"1001.{os.getpid()}"
    with world.running(f"(setsid sleep {mark} &) ; {OBEY} sleep {mark}") as live:
        assert "held (H-" in does(live, "write orphan")
        assert does(live, "work orphan") == "did orphan"
        folder, gatekeeper = live.folder, live.gatekeeper()
        of_session = [pid for pid in descendants(live.process.pid) if pid != gatekeeper]
        # The launcher, the script, and what has left its process group.
        assert len(alive(mark)) >= 3
        os.kill(live.process.pid, signal.SIGKILL)
        wait_for(lambda: not left_of(world, folder.name, mark) and not any(map(runs, of_session)), seconds=5)
        wait_for(lambda: (folder / "handoff.json").exists() and not runs(gatekeeper), seconds=20)
    handoff = json.loads((folder / "handoff.json").read_text())
    assert handoff["exit_status"] is None
    assert "launcher" in handoff["ended_because"]
    assert [act["target"] for act in handoff["held"]] == ["https://api.test/orphan"]
    assert [commit["subject"] for commit in handoff["commits"]] == ["orphan"]
    assert git_output("show", f"refs/sekisho/{folder.name}/tree:work.txt", cwd=world.repository) == "orphan"


def runs(pid: int) -> bool:
    """Whether a process lives; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@both
def test_both_killed_at_once_is_finished_by_the_next_command(world: World) -> None:
    mark = f"1002.{os.getpid()}"
    with world.running(f"(setsid sleep {mark} &) ; {OBEY}") as live:
        assert does(live, "work both") == "did both"
        folder, gatekeeper = live.folder, live.gatekeeper()
        os.kill(live.process.pid, signal.SIGSTOP)  # it must not start another gatekeeper
        os.kill(gatekeeper, signal.SIGKILL)
        os.kill(live.process.pid, signal.SIGKILL)
        live.process.wait(10)
        wait_for(lambda: not left_of(world, folder.name, mark), seconds=5)
    assert not (folder / "handoff.json").exists()
    records = json.loads(world.told("sessions", "list", "--json").out)
    assert next(r["state"] for r in records if r["id"] == folder.name) == "ended"
    handoff = json.loads((folder / "handoff.json").read_text())
    assert [commit["subject"] for commit in handoff["commits"]] == ["both"]


def test_a_ledger_damaged_under_way_stops_writes_and_the_work_is_kept(world: World, tmp_path: Path) -> None:
    other = apart(world, tmp_path / "state")
    with other.running(OBEY) as live:
        assert "held (H-" in does(live, "write sound")
        for name in ("ledger.db", "ledger.db-wal"):
            path = other.state_folder / name
            path.write_bytes(os.urandom(path.stat().st_size))
        live.kill_gatekeeper()  # what it had in memory is gone, too
        assert does(live, "work damaged") == "did damaged"
        received = world.upstream.received()
        refused = does(live, "write damaged")
        assert world.upstream.received() - received <= FIN
        assert "gate broken" in refused
        assert "damaged" in refused
        assert does(live, "read damaged") == "200"
        handoff = ends(live)
    assert any("damaged" in note for note in handoff["gate_broken"])
    assert [commit["subject"] for commit in handoff["commits"]] == ["damaged"]
    for command in (("approvals", "list"), ("run", "--policy", str(world.policy), "--", "touch", "ran")):
        told = other.told(*command, status=69)
        assert "damaged" in told.err
        assert "Traceback" not in told.err
    assert not (world.repository / "ran").exists()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MiB."""
    with small_disk(tmp_path / "small") as folder:
        yield folder


@pytest.mark.root
def test_a_full_disk_stops_writes_and_is_told(world: World, disk: Path) -> None:
    other = apart(world, disk)
    with other.running(OBEY) as live:
        assert does(live, "read warm") == "200"
        filler = disk / "filler"
        fill(filler)
        received = world.upstream.received()
        refused = does(live, "write full")
        assert world.upstream.received() - received <= FIN
        assert "gate broken" in refused
        assert does(live, "read full") == "200"
        filler.unlink()
        assert does(live, "work room") == "did room"
        assert "held (H-" in does(live, "write room")
        handoff = ends(live)
    assert len(handoff["held"]) == 1


@pytest.mark.root
def test_a_disk_that_stays_full_keeps_the_work_for_the_next_command(world: World, disk: Path) -> None:
    other = apart(world, disk)
    with other.running(OBEY) as live:
        assert does(live, "work kept") == "did kept"
        folder, filler = live.folder_below(disk), disk / "filler"
        fill(filler)
        assert live.process.stdin is not None
        live.process.stdin.close()
        live.process.stdin = None
        _, err = live.process.communicate(timeout=60)
        assert live.process.returncode == 69
        assert "No space left" in err
        assert "Traceback" not in err
    filler.unlink()
    records = json.loads(other.told("sessions", "list", "--json").out)
    assert [(record["id"], record["state"]) for record in records] == [(folder.name, "ended")]
    handoff = json.loads((folder / "handoff.json").read_text())
    assert [commit["subject"] for commit in handoff["commits"]] == ["kept"]
