"""Each part of the gate broken in turn: the outside closes, local work goes on, and it is said.

part            how it is broken                      test
policy          missing, truncated, unknown key,      statuses.a_policy_that_cannot_be_used_ends_with_2
                empty, of another version
                wrong type, folder, 50 MB, pipe       a_policy_that_is_none_ends_with_2
                changed by the agent                  statuses.a_policy_changed_by_the_agent_counts_for_...
                changed outside under way             a_policy_changed_under_way_counts_next_time
                its pinned copy damaged               a_damaged_copy_of_the_policy_closes_the_outside
authority       key open to others                    start_failures.a_certificate_key_that_others_can_...
                key unreadable: garbage, a folder     an_unreadable_key_stops_the_start
                key lost under way                    a_key_lost_under_way_closes_the_outside
agent's socket  cannot be made                        without_a_place_for_sockets_nothing_runs
                gone                                  a_socket_that_is_gone_opens_nothing
                slow, silent                          a_gatekeeper_that_sleeps_opens_nothing
                answers rubbish                       shim/test_client: a_gatekeeper_that_talks_rubbish_...
                is told rubbish, 2000 connections     rubbish_on_the_socket_hinders_nobody
ledger, journal locked, newer under way; head         gate_broken.a_ledger_in_trouble_stops_writes_and_...
                missing, head not as sealed
ledger          newer at the start                    statuses.a_store_of_a_newer_version_is_left_alone
                corrupt                               gate_broken.a_ledger_damaged_under_way_stops_writes_...
                read-only                             a_read_only_ledger_stops_writes
disk            full while a write is held            gate_broken.a_full_disk_stops_writes_and_is_told
                full at the end                       gate_broken.a_disk_that_stays_full_keeps_the_work_...
                full at the start                     a_full_disk_at_the_start_runs_nothing
                full at each write of an approved act a_disk_full_at_any_write_sends_once_at_most
                nothing can be written (rlimit)       a_gatekeeper_that_cannot_write_says_so_later
gatekeeper      killed idle                           gate_broken.a_killed_gatekeeper_closes_the_outside_...
                killed deciding                       a_gatekeeper_killed_while_deciding
                killed holding a call                 gate_broken.a_gatekeeper_killed_while_a_call_waits_...
                killed streaming                      gate_broken.a_gatekeeper_killed_under_a_stream_cuts_...
                killed carrying an approved act       a_gatekeeper_killed_while_it_carries
approver        killed between consume and finish     an_approver_killed_while_sending
launcher        killed                                gate_broken.a_killed_launcher_leaves_nothing_alive_...
                killed with its gatekeeper            gate_broken.both_killed_at_once_is_finished_by_...
                two at once                           without_terminal.two_launchers_work_at_once_on_...
shim            killed                                a_killed_shim_runs_nothing
clock           back a day                            a_clock_set_back_prolongs_no_approval
map of names    lost, truncated, damaged              a_broken_map_of_names_leads_nowhere_else
descriptors     2000 idle connections                 idle_connections_without_end
                none left                             a_gatekeeper_without_descriptors
bwrap           missing                               start_failures.without_bwrap
                too old, encloses nothing, silent     start_failures.a_bwrap_that_does_not_enclose_runs_...
                refused by the kernel, exits with 0   a_bwrap_that_encloses_nothing_runs_nothing

Names are those of the tests without `test_`; with a prefix, in tests/e2e/test_PREFIX.py.

Those of the agent's socket, gatekeeper, launcher, shim, map of names and descriptors run with each backend
(`both`): there the enclosure made the sockets, carries the client or has to end. The others run with one:
policy, authority, ledger, journal, disk, approver (with what it waits for) and clock lie outside of any
enclosure, in the same code.
What stands for a broken bwrap is a broken engine: tests/docker/test_broken_engine.py.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sekisho.core.lifecycle import State
from sekisho.sending.execute import execute
from sekisho.sending.outcome import NotExecuted
from sekisho.store.clock import Reading, read_clock
from sekisho.store.errors import Expired, LedgerError, StoreBroken
from sekisho.store.store import Store
from tests.e2e import direct
from tests.e2e.broken import (
    FIN,
    OBEY,
    apart,
    does,
    ends,
    fill,
    limited,
    locked,
    read_only,
    small_disk,
)
from tests.e2e.enclosing import both, both_for_the_first
from tests.e2e.test_start_failures import tools
from tests.e2e.world import ZERO, Live, World, wait_for
from tests.support.needs import needs
from tests.support.upstream import Result

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MiB."""
    with small_disk(tmp_path / "small") as folder:
        yield folder


def arrived(world: World, path: str) -> list[dict[str, object]]:
    """The writes to a path that reached the upstream."""
    return [write for write in world.writes() if str(write["path"]).startswith(path)]


def nothing_ran(world: World, done: Result, status: int = 69) -> str:
    """What was said."""
    assert done.status == status, done.err
    assert "Traceback" not in done.err
    assert not (world.folder / "ran").exists()
    return done.err


def touch(world: World) -> list[str | Path]:
    return ["run", "--policy", world.policy, "--", "touch", world.folder / "ran"]


# -- policy ----------------------------------------------------------------------------------------


def wrong_type(path: Path) -> None:
    path.write_text("version = 1\n[network]\nresolve = 7\n")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50_000_000)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (wrong_type, "sekisho.toml:3"),
        (Path.mkdir, "not a regular file"),
        (huge, "50000000 bytes"),
        (os.mkfifo, "not a regular file"),
    ],
    ids=["wrong type", "folder", "50 MB", "pipe"],
)
def test_a_policy_that_is_none_ends_with_2(world: World, tmp_path: Path, make: object, says: str) -> None:
    assert callable(make)
    make(tmp_path / "sekisho.toml")
    done = world.sekisho("run", "--policy", tmp_path / "sekisho.toml", "--", "touch", world.folder / "ran")
    assert says in nothing_ran(world, done, 2)


def test_a_policy_changed_under_way_counts_next_time(world: World, tmp_path: Path) -> None:
    """Whoever changes it: a session is judged by what was read at its start."""
    policy = tmp_path / "sekisho.toml"
    shutil.copy(world.policy, policy)
    other = World(world.folder, world.upstream, world.sekisho, world.repository, policy)
    with other.running(OBEY) as live:
        assert "held (H-" in does(live, "write pinned")
        policy.write_text(
            policy.read_text()
            + '[[network.rule]]\nhost = "api.test"\nmethod = "POST"\npath = "/*"\neffect = "read"\n'
        )
        live.kill_gatekeeper()
        assert "held (H-" in does(live, "write pinned-again")
        assert does(live, "work pinned") == "did pinned"
        handoff = ends(live)
    assert len(handoff["held"]) == 2
    assert not arrived(world, "/pinned")
    policy.write_text(policy.read_text() + "not TOML")
    assert "sekisho.toml" in nothing_ran(world, world.sekisho(*touch(other)), 2)


def test_a_damaged_copy_of_the_policy_closes_the_outside(world: World) -> None:
    with world.running(OBEY) as live:
        assert "held (H-" in does(live, "write before-damage")
        copy = live.folder / "policy.json"
        copy.write_bytes(copy.read_bytes()[:100])
        live.kill_gatekeeper()
        received = world.upstream.received()
        assert "held" not in does(live, "do curl -sS -m 1 -d x=1 https://api.test/policy-damaged; echo c $?")
        assert does(live, "work policy-damaged") == "did policy-damaged"
        handoff = ends(live)
    assert world.upstream.received() - received <= FIN
    assert any("ValidationError" in note or "DecodeError" in note for note in handoff["gate_broken"])
    assert [commit["subject"] for commit in handoff["commits"]] == ["policy-damaged"]


# -- authority -------------------------------------------------------------------------------------


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(2000))
    path.chmod(0o600)


@pytest.mark.parametrize("make", [garbage, Path.mkdir], ids=["garbage", "folder"])
def test_an_unreadable_key_stops_the_start(world: World, tmp_path: Path, make: object) -> None:
    assert callable(make)
    other = apart(world, tmp_path / "state")
    assert other.sekisho("audit", "tail").status == 0
    authority = tmp_path / "state" / "authority"
    authority.mkdir(mode=0o700)
    make(authority / "mitmproxy-ca.pem")
    assert "certificates" in nothing_ran(world, other.sekisho(*touch(world)))


def test_a_key_lost_under_way_closes_the_outside(world: World, tmp_path: Path) -> None:
    other = apart(world, tmp_path / "state")
    key = tmp_path / "state" / "authority" / "mitmproxy-ca.pem"
    with other.running(OBEY) as live:
        assert does(live, "read key") == "200"
        garbage(key)
        live.kill_gatekeeper()
        received = world.upstream.received()
        does(live, "do curl -sS -m 3 -d x=1 https://api.test/keyless")
        assert does(live, "work keyless") == "did keyless"
        handoff = ends(live)
    assert world.upstream.received() - received <= FIN
    assert any("authority" in note for note in handoff["gate_broken"]), handoff["gate_broken"]


# -- the agent's socket ----------------------------------------------------------------------------


@both_for_the_first("how", {name: name for name in ("a file", "open to others", "too long")})
def test_without_a_place_for_sockets_nothing_runs(world: World, tmp_path: Path, how: str) -> None:
    place = tmp_path / ("x" * 100 if how == "too long" else "place")
    if how == "a file":
        place.write_text("")
    else:
        place.mkdir()
        place.chmod(0o777 if how == "open to others" else 0o700)
    done = world.sekisho(*touch(world), SEKISHO_RUNTIME_DIR=str(place))
    assert place.name[:20] in nothing_ran(world, done)


@both
def test_a_socket_that_is_gone_opens_nothing(world: World, tmp_path: Path) -> None:
    place = Path(tempfile.mkdtemp(dir="/tmp", prefix="sk"))
    other = apart(world, tmp_path / "state", SEKISHO_RUNTIME_DIR=str(place))
    with other.running(OBEY) as live:
        assert does(live, "read warm") == "200"
        for path in place.glob("*/agent.sock"):
            path.unlink()
        assert "[remote rejected]" in does(live, "push socketless")
        assert does(live, "work socketless") == "did socketless"
        handoff = ends(live)
    assert world.remote("refs/heads/socketless") == ZERO
    assert [act["target"] for act in handoff["held"]] == ["https://git.test/x.git refs/heads/socketless"]
    assert not list(place.iterdir())
    place.rmdir()


@both
def test_a_gatekeeper_that_sleeps_opens_nothing(world: World) -> None:
    with world.running(OBEY) as live:
        assert does(live, "read awake") == "200"
        gatekeeper = live.gatekeeper()
        os.kill(gatekeeper, signal.SIGSTOP)
        try:
            received = world.upstream.received()
            assert "the gatekeeper does not answer, so git is not run" in does(live, "push asleep")
            assert "timed out" in does(live, "do curl -sS -m 2 -d x=1 https://api.test/asleep")
            assert does(live, "work asleep") == "did asleep"
            assert world.upstream.received() - received <= FIN
        finally:
            os.kill(gatekeeper, signal.SIGCONT)
        assert "held (H-" in does(live, "write awake")
        handoff = ends(live)
    assert [act["target"] for act in handoff["held"]] == ["https://api.test/awake"]
    assert [commit["subject"] for commit in handoff["commits"]] == ["asleep"]


CONNECT = """
import resource, socket, sys, time
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
family = socket.AF_UNIX if sys.argv[1].startswith("/") else socket.AF_INET
place = sys.argv[1] if family == socket.AF_UNIX else ("127.0.0.1", int(sys.argv[1]))
held = []
for number in range(2000):
    made = socket.socket(family, socket.SOCK_STREAM)
    made.settimeout(5)
    try:
        made.connect(place)
        if sys.argv[2] == "talk":
            made.sendall((b"rubbish", b"9999999999:", b"3:1\\0x,", b"\\0" * 999)[number % 4])
    except OSError:
        pass
    held.append(made)
print("connected", flush=True)
time.sleep(1000)
"""


def connects(live: Live, place: str, mode: str) -> None:
    """Let the session's own program take what it can get."""
    script = f"do python3 connect.py {place} {mode} > /tmp/said 2>&1 & echo $! > /tmp/pid"
    does(live, script)
    for _ in range(200):
        if does(live, "do cat /tmp/said").strip() == "connected":
            return
        time.sleep(0.05)
    raise AssertionError("it did not get as far")


@both_for_the_first("mode", {"talk": "talk", "wait": "wait"})
def test_rubbish_on_the_socket_hinders_nobody(world: World, mode: str) -> None:
    (world.repository / "connect.py").write_text(CONNECT)
    with world.running(OBEY) as live:
        assert does(live, "read before-rubbish") == "200"
        connects(live, "/run/sekisho/agent.sock", mode)
        assert "[remote rejected]" in does(live, "push rubbish") + does(live, "push rubbish")
        assert does(live, "read rubbish") == "200"
        assert does(live, "work rubbish") == "did rubbish"
        does(live, "do kill $(cat /tmp/pid)")
        handoff = ends(live)
    (world.repository / "connect.py").unlink()
    assert world.remote("refs/heads/rubbish") == ZERO
    assert [act["target"] for act in handoff["held"]] == ["https://git.test/x.git refs/heads/rubbish"]


# -- ledger and disk -------------------------------------------------------------------------------


@pytest.mark.root
def test_a_read_only_ledger_stops_writes(world: World, tmp_path: Path) -> None:
    other = apart(world, tmp_path / "state")
    ledger = tmp_path / "state" / "ledger.db"
    with other.running(OBEY) as live:
        assert does(live, "read writable") == "200"
        with read_only(ledger):
            live.kill_gatekeeper()  # what it has open stays as it was
            refused = does(live, "write read-only")
            assert "gate broken" in refused
            assert "cannot be written to" in refused
            assert does(live, "read read-only") == "200"
            assert does(live, "work read-only") == "did read-only"
        assert "held (H-" in does(live, "write writable")
        handoff = ends(live)
    assert not arrived(world, "/read-only")
    assert any("cannot be written to" in note for note in handoff["gate_broken"])
    assert [act["target"] for act in handoff["held"]] == ["https://api.test/writable"]


@pytest.mark.root
def test_a_full_disk_at_the_start_runs_nothing(world: World, disk: Path) -> None:
    other = apart(world, disk)
    filler = disk / "filler"
    for left in (0, 1 << 12, 1 << 16):
        fill(filler)
        os.truncate(filler, max(filler.stat().st_size - left, 0))
        said = nothing_ran(world, other.sekisho(*touch(world)))
        assert "No space left" in said or "disk is full" in said, said
        filler.unlink()
    assert other.sekisho("run", "--policy", world.policy, "--", "true").status == 0


@pytest.mark.root
def test_a_disk_full_at_any_write_sends_once_at_most(world: World, disk: Path) -> None:
    """Page by page less room, from before the approval is used up until after the answer is stored."""
    filler, ends_as, reasons = disk / "filler", set(), set()
    with Store(disk) as store:
        session = direct.session_state(world)
        for pages in (*range(0, 24, 2), 32, 64, 128):
            path = f"/full-{pages}"
            hold = direct.hold_id(direct.ask(store, session, direct.post(path, b"x" * 3000)))
            store.ledger.approve(hold, "kim", 600)
            fill(filler)
            os.truncate(filler, filler.stat().st_size - pages * 4096)
            try:
                execute(store, hold)
            except (StoreBroken, NotExecuted) as error:
                reasons.add(str(error)[-30:])
            filler.unlink()
            now = store.ledger.get(hold).state
            ends_as.add(now)
            sent = len(arrived(world, path))
            assert sent == (now is not State.APPROVED), (now, sent)
            if now is not State.APPROVED:
                with pytest.raises((LedgerError, NotExecuted)):
                    execute(store, hold)
                assert len(arrived(world, path)) == sent
        assert not store.journal.verify()
    assert {State.APPROVED, State.DONE} <= ends_as, reasons


def test_a_gatekeeper_that_cannot_write_says_so_later(world: World) -> None:
    with world.running(OBEY) as live:
        assert does(live, "read writing") == "200"
        with limited(live.gatekeeper(), resource.RLIMIT_FSIZE, 0):
            refused = does(live, "write unwritten")
            assert "gate broken" in refused
            assert does(live, "work unwritten") == "did unwritten"
        assert "held (H-" in does(live, "write written")
        handoff = ends(live)
    assert not arrived(world, "/unwritten")
    assert handoff["gate_broken"]
    assert [act["target"] for act in handoff["held"]] == ["https://api.test/written"]


# -- processes that die ----------------------------------------------------------------------------


@both
def test_a_gatekeeper_killed_while_deciding(world: World) -> None:
    with world.running(OBEY) as live:
        assert does(live, "read undecided") == "200"
        with locked(world):  # it waits for the ledger
            live.tell("do curl -sS -m 20 -d x=1 https://api.test/undecided; echo curl $?")
            time.sleep(1)
            live.kill_gatekeeper()
            assert live.says().split("curl ")[-1] in ("52 ", "56 ", "35 ", "92 ")
        assert does(live, "work undecided") == "did undecided"
        assert "held (H-" in does(live, "write undecided")
        handoff = ends(live)
    assert not arrived(world, "/undecided")
    assert [(act["target"], act["count"]) for act in handoff["held"]] == [("https://api.test/undecided", 1)]
    assert any("ended unasked" in note for note in handoff["gate_broken"])


def approving(world: World, hold: dict[str, Any]) -> "subprocess.Popen[bytes]":
    """A person's yes, in a process that can be killed."""
    argv = world.sekisho.argv("approvals", "approve", hold["id"])
    return subprocess.Popen(
        argv,
        cwd=world.repository,
        env=world.sekisho.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


SIGNED = "-H 'Authorization: AWS4-HMAC-SHA256 Credential=A/20260101/eu/s3/aws4_request, Signature=0f'"


def test_a_gatekeeper_killed_while_it_carries(world: World) -> None:
    """What its call was sending when it died is unknown; nobody sends it again."""
    url = "https://api.test/slow?s=20&carried"
    script = f"curl -sS -m 30 -d x=1 {SIGNED} '{url}'; echo curl $?; read -r _; echo over"
    with world.running(script, "--wait", "30s") as live:
        hold = wait_for(lambda: next((h for h in world.holds() if h["target"] == url), None))
        approver = approving(world, hold)  # it waits for how its call ends
        wait_for(lambda: world.state(hold) == "executing" or None)
        time.sleep(0.5)
        live.kill_gatekeeper()
        assert approver.wait(30) == 1
        assert live.says() in ("curl 52", "curl 56", "curl 35", "curl 92")
        live.tell("")
        live.end()
    assert world.state(hold) == "unknown"
    assert "is unknown" in world.approve(hold, status=1).err
    assert len(arrived(world, "/slow?s=20&carried")) <= 1


def test_an_approver_killed_while_sending(world: World) -> None:
    """Nothing is sent twice, and its target is closed until a person has looked."""
    url = "https://api.test/slow?s=20&killed"
    path = url.removeprefix("https://api.test")
    first, second = ({"id": direct.held(world, path, body).id} for body in (b"x=1", b"x=2"))
    approver = approving(world, first)
    with direct.opened(world) as store:
        wait_for(lambda: store.ledger.get(first["id"]).state is State.EXECUTING)
        time.sleep(0.3)
        approver.kill()
        approver.wait()
    shown = json.loads(world.told("approvals", "list", "--json").out)
    assert {h["id"]: h["state"] for h in shown}[first["id"]] == "unknown"
    assert "is unknown" in world.approve(first, status=1).err
    assert f"stays closed until {first['id']}" in world.approve(second, status=1).err
    assert len(arrived(world, "/slow?s=20&killed")) <= 1
    recorded = world.told("audit", "query", "--kind", "act.unknown", "--json").out
    assert "the executing process is gone" in recorded
    world.told("approvals", "settle", first["id"], "failed")
    world.told("approvals", "approve", second["id"], "--no-execute")


@both
def test_a_killed_shim_runs_nothing(world: World) -> None:
    with world.running(OBEY) as live:
        assert does(live, "work shim") == "did shim"
        assert does(live, "read shim") == "200"
        gatekeeper = live.gatekeeper()
        os.kill(gatekeeper, signal.SIGSTOP)  # the shim waits for its answer
        try:
            push = "git push origin HEAD:refs/heads/shim & sleep 0.3; kill -9 $!; wait $!; echo git $?"
            assert "git 137" in does(live, f"do {push}")
        finally:
            os.kill(gatekeeper, signal.SIGCONT)
        assert does(live, "work shim-too") == "did shim-too"
        handoff = ends(live)
    assert handoff["held"] == []
    assert world.remote("refs/heads/shim") == ZERO


# -- clock, names, descriptors ---------------------------------------------------------------------


def test_a_clock_set_back_prolongs_no_approval(world: World) -> None:
    hold = direct.held(world, "/clock", b"tick")
    with direct.opened(world) as store:
        store.ledger.approve(hold.id, "kim", 600)

    def later() -> Reading:
        """Eleven minutes on, with the wall clock a day back."""
        now = read_clock()
        return Reading(wall=now.wall - 86_400 + 660, boot=now.boot + 660, boot_id=now.boot_id)

    with direct.opened(world, later) as store:
        with pytest.raises(Expired):
            execute(store, hold.id)
        assert store.ledger.get(hold.id).state is State.PENDING
        assert not store.journal.verify()
    assert not arrived(world, "/clock")
    assert world.state({"id": hold.id}) == "pending"


def lost(path: Path) -> None:
    path.unlink()


def truncated(path: Path) -> None:
    os.truncate(path, 3)


def damaged(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\0\n" + os.urandom(100) + b"\n")


@both
def test_a_broken_map_of_names_leads_nowhere_else(world: World, tmp_path: Path) -> None:
    """A client that kept an address from before gets nowhere, least of all to another host."""
    other = apart(world, tmp_path / "state")
    with other.running(OBEY) as live:
        assert does(live, "read names") == "200"
        names = live.folder_below(tmp_path / "state") / "names"
        for breaks in (lost, truncated, damaged):
            names_are_broken(world, live, names, breaks)
        handoff = ends(live)
    assert not arrived(world, "/stale")
    assert {commit["subject"] for commit in handoff["commits"]} == {"lost", "truncated", "damaged"}


def names_are_broken(world: World, live: Live, names: Path, breaks: Callable[[Path], None]) -> None:
    """One way to break the map, under a session that has used it."""
    how = breaks.__name__
    direct_curl = "curl -sS -m 20 --noproxy '*' -o /dev/null -w '%{http_code}'"
    address = does(live, "do getent hosts api.test | cut -d' ' -f1").strip()
    assert address.startswith("198.18.")
    assert does(live, f"do {direct_curl} https://api.test/mapped-{how}").strip() == "200"
    breaks(names)
    live.kill_gatekeeper()
    does(live, "do getent hosts github.com")  # may get the same address now
    received = world.upstream.received()
    stale = f"do {direct_curl} --resolve api.test:443:{address} -d x=1 https://api.test/stale-{how}"
    assert does(live, stale).strip()[-3:] in ("403", "000"), how
    assert world.upstream.received() - received <= FIN, how
    assert does(live, f"do {direct_curl} https://api.test/mapped-again-{how}").strip() == "200"
    assert does(live, f"work {how}") == f"did {how}"


@both
def test_idle_connections_without_end(world: World) -> None:
    (world.repository / "connect.py").write_text(CONNECT)
    with world.running(OBEY) as live:
        assert does(live, "read before-idle") == "200"
        connects(live, "3128", "wait")
        received = world.upstream.received()
        assert "held" not in does(live, "write idle")
        assert world.upstream.received() - received <= FIN
        assert does(live, "work idle") == "did idle"
        does(live, "do kill $(cat /tmp/pid)")
        wait_for(lambda: "held (H-" in does(live, "write after-idle"))
        handoff = ends(live)
    (world.repository / "connect.py").unlink()
    assert [act["target"] for act in handoff["held"]] == ["https://api.test/after-idle"]
    assert (
        "too-many-connections"
        in world.told("audit", "query", "--session", str(handoff["session"]), "--json").out
    )


@both
def test_a_gatekeeper_without_descriptors(world: World) -> None:
    with world.running(OBEY) as live:
        assert does(live, "read descriptors") == "200"
        gatekeeper = live.gatekeeper()
        open_now = len(os.listdir(f"/proc/{gatekeeper}/fd"))
        received = world.upstream.received()
        with limited(gatekeeper, resource.RLIMIT_NOFILE, open_now):
            does(live, "do curl -sS -m 3 -d x=1 https://api.test/no-descriptors")
            assert does(live, "work no-descriptors") == "did no-descriptors"
        assert world.upstream.received() - received <= FIN
        assert "held (H-" in does(live, "write descriptors")
        handoff = ends(live)
    assert not arrived(world, "/no-descriptors")
    assert [commit["subject"] for commit in handoff["commits"]] == ["no-descriptors"]


# -- bwrap -----------------------------------------------------------------------------------------


REFUSED = """#!/bin/sh
test "$1" = --version && echo "bubblewrap 0.9.0" && exit 0
echo "bwrap: setting up uid map: Permission denied" >&2
exit 1
"""
CONTENT = """#!/bin/sh
test "$1" = --version && echo "bubblewrap 0.9.0"
exit 0
"""


@pytest.mark.parametrize(
    ("script", "says"),
    [(REFUSED, "setting up uid map: Permission denied"), (CONTENT, "ended with status 0")],
    ids=["refused by the kernel", "exits with 0"],
)
def test_a_bwrap_that_encloses_nothing_runs_nothing(
    world: World, tmp_path: Path, script: str, says: str
) -> None:
    done = world.sekisho(*touch(world), PATH=tools(tmp_path / "bin", script))
    said = nothing_ran(world, done)
    assert says in said
    assert "next: " in said
    assert "nothing was run" in said
