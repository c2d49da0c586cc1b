"""A container's life: whose files, what status, what is left, how it ends."""

import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

from sandbox.descriptors import Stdio
from sandbox.docker.launch import start
from sandbox.docker.laying import PREFIX, Folder
from sandbox.docker.render import Image
from sandbox.spec import Limits, Mount, MountKind
from tests.docker import lab
from tests.e2e.world import wait_for

pytestmark = lab.marks
ROOT = Path(__file__).parents[2]
DRIVE = [sys.executable, "-m", "tests.docker.drive"]


def sh(script: str, **options: object) -> tuple[int, str]:
    """Status and output of a shell script inside."""
    return lab.run_inside(lab.enclosure("/bin/sh", "-c", script, **options))  # type: ignore[arg-type]


def left_over() -> set[str]:
    """Containers of these tests that are there now, volumes and folders, also those of others at work."""
    volumes = lab.engine().client.volumes()["Volumes"] or []
    folders = [entry.name for entry in Path("/tmp").iterdir() if entry.name.startswith(PREFIX)]
    return {*lab.containers(), *(volume["Name"] for volume in volumes), *folders}


def nothing_new_stays(before: set[str]) -> bool:
    """Whether all that is new goes away: what belongs to tests beside this one does, too."""
    new = left_over() - before
    wait_for(lambda: not new & left_over(), seconds=10)
    return not lab.containers()


def test_files_made_inside_belong_to_the_person(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    uid = os.geteuid() or lab.UID
    os.chown(work, uid, uid) if os.geteuid() == 0 else None
    tmp_path.chmod(0o755)
    mount = Mount(kind=MountKind.RW, source=str(work), target=str(work))
    script = (
        "umask 077; mkdir d; echo x >d/file; ln -s file d/link; chmod 700 d; git init -q r; cd r; "
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git log --oneline | wc -l"
    )
    spec = lab.enclosure("/bin/sh", "-c", script, mounts=[mount], workdir=str(work), uid=uid)
    assert lab.run_inside(spec) == (0, "1\n")
    made = [work / "d", work / "d/file", work / "d/link", work / "r/.git/HEAD"]
    assert {entry.lstat().st_uid for entry in made} == {uid}
    assert stat.S_IMODE((work / "d").stat().st_mode) == 0o700


def test_number_without_an_account_works() -> None:
    with pytest.raises(KeyError):
        pwd.getpwuid(lab.UID)
    script = """
set -e
whoami; python3 -c 'import getpass; print(getpass.getuser())'
echo kept >$HOME/file && cat $HOME/file; mktemp >/dev/null && echo temporary
cd; git init -q x; cd x; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; echo committed
mkdir -p ~/.cache/deep && echo cached
"""
    assert sh(script) == (0, "agent\nagent\nkept\ntemporary\ncommitted\ncached\n")


@pytest.mark.parametrize(
    "script, status",
    [
        ("exit 3", 3),
        ("kill -9 $$", 137),
        ("kill -15 $$", 143),
        ("exec /no/such/program", 127),
        ("exec /etc/passwd", 126),
        ("true", 0),
    ],
)
def test_status_is_that_of_the_command(script: str, status: int) -> None:
    assert sh(script)[0] == status


def test_environment_is_exactly_the_one_given() -> None:
    status, output = lab.run_inside(lab.enclosure("/usr/bin/env", env={"A": "b=c d"}))
    assert status == 0
    assert {*output.splitlines()} - {"PWD=/tmp"} == {*(f"{k}={v}" for k, v in lab.ENV.items()), "A=b=c d"}


def test_view_has_data_links_and_nested_folders(tmp_path: Path) -> None:
    outbox = tmp_path / "outbox"
    (outbox / "decisions").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").write_text("#!/bin/sh\necho tool\n")
    (tmp_path / "bin" / "tool").chmod(0o755)
    outbox.chmod(0o777)
    tmp_path.chmod(0o755)
    mounts = [
        Mount(kind=MountKind.DATA, target="/run/sekisho/brief.md", content=b"brief", mode=0o444),
        Mount(kind=MountKind.RW, source=str(outbox), target="/run/sekisho/outbox"),
        Mount(kind=MountKind.RO, source=str(outbox / "decisions"), target="/run/sekisho/outbox/decisions"),
        Mount(kind=MountKind.RO, source=str(tmp_path / "bin"), target="/run/sekisho/bin"),
        Mount(kind=MountKind.TMPFS, target="/run/user", size=1 << 20, mode=0o700),
        Mount(kind=MountKind.LINK, source="/usr/bin/git", target="/run/sekisho/only/git"),
        Mount(kind=MountKind.DATA, target="/etc/gitconfig", content=b"[user]\n\tname = n\n", mode=0o644),
        Mount(kind=MountKind.DATA, target="/home/agent/.config/x/y", content=b"deep", mode=0o644),
        Mount(kind=MountKind.RO_TRY, source="/nonexistent", target="/run/sekisho/none"),
    ]
    script = """
cat /run/sekisho/brief.md; echo; /run/sekisho/bin/tool; /run/sekisho/only/git config user.name
cd /run/sekisho; echo x >outbox/letter && echo written; echo x 2>/dev/null >outbox/decisions/x || echo held
echo x 2>/dev/null >/run/sekisho/brief.md || echo held; echo x >/run/user/x && echo own
cat /home/agent/.config/x/y; echo; echo z >/home/agent/.config/z && echo beside
ls /run/sekisho; (rm -rf /run/sekisho/bin || mv /run/sekisho /run/x) 2>/dev/null || echo held
"""
    status, output = lab.run_inside(lab.enclosure("/bin/sh", "-c", script, mounts=mounts))
    assert output.splitlines() == [
        "brief", "tool", "n", "written", "held", "held", "own", "deep", "beside", "bin", "brief.md", "only",
        "outbox", "held",
    ]  # fmt: skip
    assert status == 0
    assert (outbox / "letter").read_text() == "x\n"


def test_nothing_is_left_after_a_session() -> None:
    image = lab.image()
    with_volume = Image(id=image.id, env=image.env, volumes=("/var/lib/thing",))
    before = left_over()
    spec = lab.enclosure("/bin/sh", "-c", "echo x >/var/lib/thing/x; sleep 100 & sleep 100 &")
    with start(spec, engine=lab.engine(), image=with_volume, instance=lab.INSTANCE) as running:
        running.release()
        assert lab.containers()
        assert running.wait(20) == 0
    assert nothing_new_stays(before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "script, said",
    [
        ("echo up; exec sleep 600", ""),
        ("echo up; sh -c 'sleep 600; true'; true", ""),
        ("trap 'echo trapped; exit 5' TERM; echo up; sleep 600 & wait", "trapped\n"),
    ],
)
def test_told_to_end_it_ends_within_two_seconds(script: str, said: str, number: int) -> None:
    command = [*DRIVE, "--", "/bin/sh", "-c", script]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        began = time.monotonic()
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(20) == 128 + number
    assert rest == said
    assert time.monotonic() - began < 2


def test_engines_own_stop_ends_it_soon() -> None:
    with lab.launched(lab.enclosure("/bin/sleep", "600")) as running:
        running.release()
        began = time.monotonic()
        lab.engine().client.stop(running.container_name, timeout=10)
        assert running.wait(20) == 143
        assert time.monotonic() - began < 3


def test_much_input_and_much_output_at_once() -> None:
    data = os.urandom(1 << 20) * 4
    script = "head -c 4000000 /dev/zero; sleep 0.2; wc -c; echo err >&2"
    done = subprocess.run(
        [*DRIVE, "--", "/bin/sh", "-c", script], cwd=ROOT, input=data, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"err\n")
    assert done.stdout == bytes(4000000) + f"{len(data)}\n".encode()


def test_what_nobody_reads_does_not_keep_it_from_being_over() -> None:
    reading, writing = os.pipe()
    try:
        with lab.launched(lab.enclosure("/usr/bin/yes"), stdio=Stdio(stdout=writing)) as running:
            running.release()
            time.sleep(0.5)
            began = time.monotonic()
            running.kill()
            assert running.wait(10) == 137
        assert time.monotonic() - began < 5
    finally:
        os.close(reading)
        os.close(writing)
    assert not lab.containers()


def test_without_input_it_reads_nothing() -> None:
    assert sh("cat; echo $?") == (0, "0\n")


@pytest.mark.parametrize("limits, said", [(Limits(memory=64 << 20), "memory limit of 64M passed")])
def test_memory_is_limited(limits: Limits, said: str) -> None:
    source = "x = bytearray(200 << 20); print('ESCAPED', len(x))"
    spec = lab.enclosure("/usr/bin/python3", "-c", source, limits=limits)
    with lab.launched(spec) as running:
        running.release()
        assert running.wait(30) == 137
        assert running.stopped == said


def test_processes_are_limited() -> None:
    source = (
        "import os, time\ncount = 0\ntry:\n  for _ in range(60):\n"
        "    if os.fork() == 0: time.sleep(3); os._exit(0)\n    count += 1\n"
        "except BlockingIOError: pass\nprint(count)"
    )
    spec = lab.enclosure("/usr/bin/python3", "-c", source, limits=Limits(pids=20))
    status, output = lab.run_inside(spec)
    assert (status, 10 <= int(output) < 20) == (0, True)


def test_time_limit_ends_it() -> None:
    began = time.monotonic()
    done = subprocess.run([*DRIVE, "--time", "1", "--", "/bin/sleep", "600"], cwd=ROOT, timeout=30)
    assert done.returncode == 143
    assert time.monotonic() - began < 8


def test_terminal_has_job_control_and_resizes() -> None:
    child = pexpect.spawn(
        DRIVE[0], [*DRIVE[1:], "--terminal", "--", "/bin/bash", "--norc", "-i"], cwd=str(ROOT), timeout=20,
        dimensions=(30, 100), encoding="utf-8",
    )  # fmt: skip
    try:
        child.expect_exact("in> ")
        child.sendline("stty size; tty")
        child.expect_exact("30 100")
        child.expect("/dev/(pts/0|console)")
        child.setwinsize(40, 90)
        time.sleep(0.8)
        child.sendline("stty size")
        child.expect_exact("40 90")
        child.sendline("sleep 600")
        time.sleep(0.4)
        child.sendcontrol("z")
        child.expect_exact("Stopped")
        child.sendline("fg")
        time.sleep(0.4)
        child.sendcontrol("c")
        child.expect_exact("in> ")
        child.sendline("echo status $?")
        child.expect_exact("status 130")
        child.sendline("exit 7")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 7
    finally:
        child.close(force=True)


def test_last_words_on_a_terminal_are_not_lost() -> None:
    child = pexpect.spawn(
        DRIVE[0], [*DRIVE[1:], "--terminal", "--", "/bin/sh", "-c", "seq 20000; echo the end"], cwd=str(ROOT),
        timeout=20, encoding="utf-8",
    )  # fmt: skip
    child.expect(pexpect.EOF)
    child.close()
    assert str(child.before).rstrip().endswith("20000\r\nthe end")


def test_interrupted_tidying_is_finished_by_the_guardian(monkeypatch: pytest.MonkeyPatch) -> None:
    before = left_over()

    def interrupted(folder: Folder) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Folder, "remove", interrupted)
    with pytest.raises(KeyboardInterrupt), lab.launched(lab.enclosure("/bin/true")) as running:
        running.release()
    assert nothing_new_stays(before)


def test_closing_without_a_release_leaves_nothing() -> None:
    with lab.launched(lab.enclosure("/bin/true"), stdio=Stdio()):
        assert lab.containers()
    assert not lab.containers()
