"""What of root's environment comes along when root becomes a repository's owner."""

import pytest

from sekisho.cli.errors import Trouble
from sekisho.cli.owner import Owner, environment_of

KIM = Owner(uid=1000, gid=1000, name="kim", home="/home/kim", login_shell="/bin/zsh")
NOBODY = Owner(uid=54321, gid=54321, name="", home="", login_shell="")
ROOTS = {
    "PATH": "/usr/bin",
    "LANG": "C.UTF-8",
    "HOME": "/root",
    "USER": "root",
    "LOGNAME": "root",
    "SHELL": "/bin/bash",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "XDG_STATE_HOME": "/root/.local/state",
    "XDG_RUNTIME_DIR": "/run/user/0",
}


def test_roots_folders_and_agent_stay_behind() -> None:
    assert environment_of(KIM, ROOTS) == {
        "PATH": "/usr/bin",
        "LANG": "C.UTF-8",
        "HOME": "/home/kim",
        "USER": "kim",
        "LOGNAME": "kim",
        "SHELL": "/bin/zsh",
    }


def test_a_number_without_an_account_lives_in_the_folder_it_was_given() -> None:
    env = environment_of(NOBODY, ROOTS | {"SEKISHO_HOME": "/srv/sekisho"})
    assert (env["HOME"], env.get("USER")) == ("/srv/sekisho", None)


def test_a_number_without_an_account_and_folder_is_refused() -> None:
    with pytest.raises(Trouble) as refused:
        environment_of(NOBODY, ROOTS)
    assert refused.value.status == 2
    assert "SEKISHO_HOME" in refused.value.instead
