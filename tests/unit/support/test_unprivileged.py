"""The ordinary user that sandbox tests run as."""

import os
from pathlib import Path

from tests.support.unprivileged import OrdinaryUser


def whoami() -> list[int]:
    return [os.getuid(), os.geteuid(), os.getgid(), len(os.getgroups())]


def test_functions_run_without_privileges(as_ordinary_user: OrdinaryUser) -> None:
    uid, effective, gid, groups = as_ordinary_user.call(whoami)
    assert uid == effective == as_ordinary_user.uid != 0
    assert gid == as_ordinary_user.gid
    assert os.geteuid() != 0 or groups == 0


def test_interpreter_has_the_project_and_its_dependencies(as_ordinary_user: OrdinaryUser) -> None:
    code = "import cryptography, mitmproxy, msgspec, netpolicy, psutil, sandbox, sekisho, shim, sqlite3, ssl"
    done = as_ordinary_user.run([as_ordinary_user.python, "-I", "-c", code])
    assert (done.returncode, done.stderr) == (0, "")


def test_folder_is_the_users_own(as_ordinary_user: OrdinaryUser) -> None:
    done = as_ordinary_user.run(["touch", "made"])
    made = as_ordinary_user.folder / "made"
    assert done.returncode == 0
    assert made.stat().st_uid == as_ordinary_user.uid


def test_nothing_of_root_can_be_read(as_ordinary_user: OrdinaryUser, tmp_path: Path) -> None:
    if as_ordinary_user.uid == os.getuid():
        return
    secret = tmp_path / "secret"
    secret.touch(mode=0o600)
    assert as_ordinary_user.run(["cat", secret]).returncode == 1
