"""One command over files nobody vouches for."""

import shlex
import subprocess
import threading
import time
from pathlib import Path

import pytest

from sandbox import throwaway
from sandbox.errors import EnclosureError
from sandbox.exchange import OutputLimitExceeded
from sandbox.spec import Mount, MountKind
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


def test_status_and_both_outputs_come_back() -> None:
    done = throwaway.run(["sh", "-c", "cat; echo err >&2; exit 3"], cwd="/tmp", stdin=b"in")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"in", b"err\n")


@pytest.mark.parametrize("script, status", [("kill -9 $$", 137), ("exit 255", 255), ("exec /nowhere", 127)])
def test_status_of_other_endings(script: str, status: int) -> None:
    assert throwaway.run(["sh", "-c", script], cwd="/tmp").returncode == status


def test_missing_command_is_127() -> None:
    assert throwaway.run(["no-such-command"], cwd="/tmp").returncode == 127


def test_only_listed_folders_are_there_and_only_rw_ones_change(tmp_path: Path) -> None:
    for name in ("ro", "rw", "rw/inner", "other"):
        (tmp_path / name).mkdir()
    script = f"cd {tmp_path}; echo *; touch rw/x; touch ro/x rw/inner/x; true"
    done = throwaway.run(
        ["sh", "-c", script],
        ro=[tmp_path / "rw/inner", tmp_path / "ro"],
        rw=[tmp_path / "rw"],
        cwd=tmp_path / "rw",
    )
    assert done.stdout == b"ro rw\n"
    assert done.stderr.count(b"Read-only") == 2
    assert (tmp_path / "rw/x").exists()


def test_there_is_no_network_and_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    script = "cat /proc/net/route /proc/*/environ; env; ls /root /home"
    done = throwaway.run(["sh", "-c", script], cwd="/tmp")
    assert b"hush" not in done.stdout
    assert done.stdout.splitlines()[0].startswith(b"Iface")
    assert b"00000000" not in done.stdout


def test_time_limit_leaves_nothing_running() -> None:
    mark = f"4{time.monotonic_ns() % 10**6}"
    with pytest.raises(subprocess.TimeoutExpired):
        throwaway.run(["sh", "-c", f"setsid sleep {mark} & sleep {mark}"], cwd="/tmp", timeout=0.5)
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True, check=False).stdout == b""


def test_output_without_end_is_stopped() -> None:
    with pytest.raises(OutputLimitExceeded):
        throwaway.run(["yes"], cwd="/tmp", output_limit=1 << 20)


def test_much_input_and_output_at_once() -> None:
    data = bytes(3 << 20)
    assert throwaway.run(["cat"], cwd="/tmp", stdin=data).stdout == data


def test_command_that_reads_nothing_ends() -> None:
    assert throwaway.run(["true"], cwd="/tmp", stdin=bytes(1 << 20)).returncode == 0


def test_what_cannot_be_enclosed_is_an_error() -> None:
    with pytest.raises(EnclosureError) as refused:
        throwaway.run(["true"], cwd="/no/such/folder")
    assert refused.value.code == "workdir-missing"


def test_stub_that_ends_well_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "bwrap").write_text(
        '#!/bin/sh\nwhile [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done; shift; "$@"; exit 0\n'
    )
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(EnclosureError):
        throwaway.run(["touch", str(ran)], cwd="/tmp")
    assert not ran.exists()


def test_works_from_a_thread_beside_others() -> None:
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(throwaway.run(["true"], cwd="/tmp").returncode))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [0, 0, 0]


def test_nested_repositorys_fsmonitor_runs_inside_only(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    repository = tmp_path / "repo's $(x)"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    with (repository / ".git/config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "touch {outside}; touch {repository}/x; false"\n')
    done = throwaway.run(["git", "status", "--porcelain"], ro=[repository], cwd=repository)
    assert done.returncode == 0
    assert not outside.exists()


def test_upload_pack_runs_enclosed(tmp_path: Path) -> None:
    repository = tmp_path / "it's $(touch evil) here"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    identity = ["-c", "user.name=A", "-c", "user.email=a@b"]
    subprocess.run(
        ["git", "-C", str(repository), *identity, "commit", "-q", "--allow-empty", "-m", "x"], check=True
    )
    folder = tmp_path / "a folder's"
    folder.mkdir()
    words = throwaway.wrapper_argv(folder, ["git-upload-pack"], ro=[repository], cwd="/")
    done = subprocess.run(
        ["git", "ls-remote", f"--upload-pack={shlex.join(words)}", str(repository), "main"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == "refs/heads/main"
    assert not list(tmp_path.rglob("evil"))


def test_wrapper_cannot_carry_data(tmp_path: Path) -> None:
    data = [Mount(kind=MountKind.DATA, target="/x", content=b"x")]
    with pytest.raises(ValueError, match="data mounts"):
        throwaway.wrapper_argv(tmp_path, ["true"], cwd="/", mounts=data)
