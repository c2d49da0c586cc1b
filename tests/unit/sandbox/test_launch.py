"""Starting an enclosure: statuses come through, and what cannot be enclosed never runs."""

import os
import signal
import threading
import time
from pathlib import Path

import msgspec
import pytest

from sandbox import bwrap
from sandbox.descriptors import Stdio
from sandbox.errors import EnclosureError, from_bwrap, from_step
from sandbox.launch import in_chroot, start
from sandbox.spec import MountKind
from tests.support.needs import needs
from tests.unit.sandbox.lab import attack, bind, enclosure, run_inside

pytestmark = pytest.mark.unthreaded

STATUSES = [
    (("sh", "-c", "exit 0"), 0),
    (("sh", "-c", "exit 7"), 7),
    (("sh", "-c", "exit 255"), 255),
    (("sh", "-c", "kill -KILL $$"), 137),
    (("sh", "-c", "kill -TERM $$"), 143),
    (("sh", "-c", "kill -SEGV $$"), 139),
    (("no-such-command",), 127),
    (("/no/such/command",), 127),
    (("/etc/passwd",), 126),
    (("/tmp",), 126),
]


@pytest.mark.sandbox
@needs("bwrap")
@pytest.mark.parametrize("network", ["none", "prepared"])
@pytest.mark.parametrize("argv, status", STATUSES)
def test_status_comes_through(argv: tuple[str, ...], status: int, network: str) -> None:
    assert run_inside(enclosure(*argv, network=network))[0] == status


@pytest.mark.sandbox
@needs("bwrap")
@pytest.mark.parametrize(
    "word", ["a b", "$(id)", "`id`", "'", '"', "\\", "x\ny", "*", "", "é", "\udcff", "-n"]
)
def test_argument_arrives_as_it_is(word: str) -> None:
    status, output = run_inside(enclosure("/usr/bin/printf", "%s", "<" + word + ">"))
    assert (status, output) == (0, f"<{word}>".encode("utf-8", "surrogateescape").decode(errors="replace"))


SAY = "echo >&2 'bwrap: "
STUBS = {
    "ends_well_without_running": ("exit 0", "bwrap-failed"),
    "repeats_its_arguments": ('set -x; echo "$@" >&2; printf "%s" "$@" >&2; exit 0', "bwrap-failed"),
    "reports_a_uid_map_error": (f"{SAY}setting up uid map: Permission denied'; exit 1", "userns-restricted"),
    "has_no_namespaces": (f"{SAY}No permissions to create new namespace'; exit 1", "userns-disabled"),
    "is_too_old": (f"{SAY}Unknown option --disable-userns'; exit 1", "bwrap-too-old"),
    "runs_the_command_unenclosed": (
        'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
        "bwrap-failed",
    ),
    "pretends_that_it_was_entered": ("cat /proc/self/fd/13 >&2; exit 0", "bwrap-strange"),
    "is_killed": ("kill -9 $$", "bwrap-failed"),
}


@pytest.mark.parametrize("network", ["none", pytest.param("prepared", marks=pytest.mark.sandbox)])
@pytest.mark.parametrize("stub, code", STUBS.values(), ids=STUBS.keys())
def test_bwrap_that(stub: str, code: str, network: str, tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\n{stub}\n")
    fake.chmod(0o755)
    ran = tmp_path / "ran"
    spec = enclosure("sh", "-c", f"sleep 0.3; touch {ran}", network=network)
    with start(spec, bwrap_path=str(fake)) as running, pytest.raises(EnclosureError) as refused:
        running.release()
    assert refused.value.code == code
    assert not ran.exists()


def test_missing_bwrap_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnclosureError, match="Install bubblewrap") as refused:
        start(enclosure("true"))
    assert refused.value.code == "bwrap-missing"


def test_bwrap_that_vanished_is_an_error(tmp_path: Path) -> None:
    running = start(enclosure("true"), bwrap_path=str(tmp_path / "bwrap"))
    with running, pytest.raises(EnclosureError) as refused:
        running.release()
    assert refused.value.code == "bwrap-missing"


@pytest.mark.sandbox
@needs("bwrap")
@pytest.mark.parametrize(
    "what, code",
    [("mount", "mount-missing"), ("workdir", "workdir-missing")],
)
def test_spec_that_does_not_fit_the_machine(what: str, code: str) -> None:
    mounts = [bind(MountKind.RO, "/no/such/folder")] if what == "mount" else []
    spec = enclosure("true", mounts=mounts, workdir="/tmp" if mounts else "/no/such/folder")
    with start(spec) as running, pytest.raises(EnclosureError) as refused:
        running.release()
    assert refused.value.code == code


_REACHABLE = """
import socket
families = socket.AF_INET, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG
print(socket.getaddrinfo("198.18.0.1", 443, *families)[0][4])
"""


@pytest.mark.sandbox
@needs("bwrap")
def test_resolver_that_asks_what_the_machine_can_reach_finds_ipv4() -> None:
    assert attack(_REACHABLE, "prepared") == [0, "('198.18.0.1', 443)\n"]


@pytest.mark.sandbox
@needs("bwrap")
def test_port_named_twice_by_different_listeners_is_an_error() -> None:
    with pytest.raises(EnclosureError) as refused:
        start(enclosure("true", network="prepared"), ports=(3128,))
    assert refused.value.code == "port-taken"


def test_launcher_with_threads_is_refused() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with pytest.raises(EnclosureError) as refused:
            start(enclosure("true"))
        assert refused.value.code == "launcher-threads"
    finally:
        done.set()
        thread.join()


@pytest.mark.sandbox
@needs("bwrap")
def test_nothing_runs_before_the_release(tmp_path: Path) -> None:
    spec = enclosure("touch", "x", mounts=[bind(MountKind.RW, str(tmp_path))], workdir=str(tmp_path))
    with start(spec):
        pass
    assert not (tmp_path / "x").exists()
    with start(spec) as running:
        running.release()
        assert running.wait(20) == 0
    assert (tmp_path / "x").exists()


@pytest.mark.sandbox
@needs("bwrap")
def test_a_sandbox_that_was_set_up_waits_inside_for_the_release(tmp_path: Path) -> None:
    spec = enclosure("touch", "x", mounts=[bind(MountKind.RW, str(tmp_path))], workdir=str(tmp_path))
    for released in (False, True):
        with start(spec) as running:
            running.set_up()
            deadline = time.monotonic() + 20
            while not entered(running.pid) and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.2)
            assert entered(running.pid)
            assert not (tmp_path / "x").exists()
            if released:
                running.release()
                assert running.wait(20) == 0
        assert (tmp_path / "x").exists() == released


def entered(bwrap: int) -> bool:
    """Whether the shell that waits inside is there."""
    children = Path(f"/proc/{bwrap}/task/{bwrap}/children").read_text().split()
    return any(Path(f"/proc/{child}/task/{child}/children").read_text() for child in children)


IN = ["", "deep/er", "with space", "-n", "$(id)", "~", "a\nb"]


@pytest.mark.sandbox
@needs("bwrap")
@pytest.mark.parametrize("name", IN)
def test_the_command_starts_where_it_was_asked_for(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True, exist_ok=True)
    script = 'printf "%s|%s|%s" "$(pwd)" "$PWD" "${OLDPWD-unset}"'
    spec = enclosure("sh", "-c", script, mounts=[bind(MountKind.RO, str(tmp_path))], workdir=str(tmp_path))
    spec = msgspec.structs.replace(spec, start_in=name)
    where = str(tmp_path / name)
    assert run_inside(spec) == (0, f"{where}|{where}|unset")


@pytest.mark.sandbox
@needs("bwrap")
def test_a_folder_that_is_not_there_is_none_to_start_in(tmp_path: Path) -> None:
    spec = enclosure("pwd", mounts=[bind(MountKind.RO, str(tmp_path))], workdir=str(tmp_path))
    assert run_inside(msgspec.structs.replace(spec, start_in="gone")) == (0, f"{tmp_path}\n")


@pytest.mark.sandbox
@needs("bwrap")
def test_descriptors_are_given_back() -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    run_inside(enclosure("true", network="prepared"))
    before = count()
    for _ in range(3):
        run_inside(enclosure("true", network="prepared"))
    assert count() == before


@pytest.mark.sandbox
@needs("bwrap")
def test_ignored_and_blocked_signals_are_not_inherited() -> None:
    spec = enclosure("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        _, output = run_inside(spec)
    finally:
        signal.signal(signal.SIGTERM, before)
    # 32 and 33 belong to the C library, which lets nobody else set them back.
    masks = [int(line.split()[1], 16) & ~(0b11 << 31) for line in output.splitlines()]
    assert masks == [0, 0]


@pytest.mark.sandbox
@needs("bwrap")
def test_wait_gives_up_in_time() -> None:
    with start(enclosure("sleep", "60"), stdio=Stdio()) as running:
        running.release()
        with pytest.raises(TimeoutError):
            running.wait(0.05)
        assert running.poll() is None


def test_environment_is_not_on_the_command_line() -> None:
    spec = enclosure("true", env={"TOKEN": "hush"})
    fds = bwrap.Descriptors(args=4, data=tuple(range(7, 7 + len(bwrap.data_of(spec)))))
    assert "hush" not in " ".join(bwrap.entry_argv(spec, bwrap="bwrap", args_fd=4))
    assert b"--setenv\0TOKEN\0hush\0" in bwrap.args_file(spec, fds)


def test_apparmor_is_named_where_it_is_the_reason() -> None:
    assert from_step("netlink", 1, apparmor=True).code == "userns-restricted"
    assert from_step("netlink", 1, apparmor=False).code == "netns-failed"
    assert from_step("unshare", 28, apparmor=False).code == "userns-disabled"


def test_unknown_last_words_are_shown() -> None:
    assert "something odd" in from_bwrap("bwrap: something odd", 1).what


@pytest.mark.parametrize(
    ("number", "chroot", "code"), [(1, True, "in-chroot"), (28, True, "userns-disabled")]
)
def test_a_chroot_is_named_where_it_is_the_reason(number: int, chroot: bool, code: str) -> None:
    refused = from_step("unshare", number, apparmor=False, chroot=chroot)
    assert refused.code == code
    assert ("chroot" in refused.instead) == (code == "in-chroot")


@pytest.mark.parametrize(
    ("lines", "chroot"),
    [
        ("24 1 254:0 / / rw - ext4 /dev/root rw\n25 24 0:22 / /proc rw - proc proc rw\n", False),
        ("25 24 0:22 / /proc rw - proc proc rw\n", True),
        ("", True),
    ],
)
def test_a_root_that_is_no_mount_is_a_chroot(tmp_path: Path, lines: str, chroot: bool) -> None:
    (tmp_path / "mountinfo").write_text(lines)
    assert in_chroot(str(tmp_path / "mountinfo")) is chroot
    assert not in_chroot(str(tmp_path / "none"))
