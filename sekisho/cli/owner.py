"""Root over a person's repository becomes that person first: nothing is read or written as root there.

git as root on another's repository runs what that repository's configuration names, and files that root
makes in it are in its owner's way ever after.
"""

import os
import pwd
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from sekisho.cli.errors import GATE_BROKEN, USAGE, Trouble
from sekisho.core.display import one_line

# What must be importable for a whole session, the gatekeeper's libraries included; none is loaded in full.
_NEEDED = (
    "import cryptography, mitmproxy, msgspec, typer, netpolicy.proxy, sandbox.workspace, sekisho.session"
)
_ROOTS = frozenset(
    {"HOME", "USER", "LOGNAME", "SHELL", "MAIL", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "DBUS_SESSION_BUS_ADDRESS"}
)


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Who a repository belongs to; `name` and `home` are empty for a number without an account."""

    uid: int
    gid: int
    name: str
    home: str
    login_shell: str


def become_owner(where: Path) -> None:
    """Where root stands in somebody's repository, become its owner for good; else do nothing.

    Raises Trouble where that cannot be.
    """
    top = _top(where) if os.geteuid() == 0 else None
    if top is None or (owner := _owner(top)).uid == 0:
        return
    env = environment_of(owner, os.environ)
    _require_interpreter(owner, env)
    try:
        from sandbox.process import become_user

        become_user(owner.uid, owner.gid)
    except OSError as error:
        raise Trouble(
            f"{one_line(str(top))} belongs to user {owner.uid}, who cannot be become here",
            why=error.strerror or str(error),
            instead=_by_hand(owner),
            status=GATE_BROKEN,
        ) from error
    os.environ.clear()
    os.environ.update(env)
    who = owner.name or f"user {owner.uid}"
    print(f"sekisho: this repository belongs to {who}: going on as {who}", file=sys.stderr)


def _top(where: Path) -> Path | None:
    """The folder with the `.git` that git would find. git itself is not asked: not as root."""
    return next((folder for folder in (where, *where.parents) if os.path.lexists(folder / ".git")), None)


def _owner(top: Path) -> Owner:
    folder, git = os.lstat(top), os.lstat(top / ".git")
    if folder.st_uid != git.st_uid:
        raise Trouble(
            f"{one_line(str(top))} belongs to user {folder.st_uid}, its .git to user {git.st_uid}",
            why="root works in a repository only as the one person it belongs to",
            instead="give both to one user with `chown -R`",
            status=USAGE,
        )
    try:
        account = pwd.getpwuid(folder.st_uid)
    except KeyError:
        return Owner(uid=folder.st_uid, gid=folder.st_gid, name="", home="", login_shell="")
    return Owner(
        uid=account.pw_uid,
        gid=account.pw_gid,
        name=account.pw_name,
        home=account.pw_dir,
        login_shell=account.pw_shell,
    )


def environment_of(owner: Owner, environ: Mapping[str, str]) -> dict[str, str]:
    """Root's environment without what leads to root's own files, and with the owner's home.

    A number without an account has no home: then `SEKISHO_HOME` must name a folder of theirs.
    """
    kept = {k: v for k, v in environ.items() if k not in _ROOTS and not k.startswith("XDG_")}
    home = owner.home or environ.get("SEKISHO_HOME", "")
    if not home:
        raise Trouble(
            f"this repository belongs to user {owner.uid}, who has no account here and so no home",
            why="a session's files and results must lie where that user may write",
            instead=f"set SEKISHO_HOME to a folder that belongs to user {owner.uid}",
            status=USAGE,
        )
    named = {"USER": owner.name, "LOGNAME": owner.name, "SHELL": owner.login_shell}
    return kept | {"HOME": home} | {key: value for key, value in named.items() if value}


def _require_interpreter(owner: Owner, env: Mapping[str, str]) -> None:
    """The gatekeeper and each later import of ours are read as that user."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _NEEDED],
            user=owner.uid,
            group=owner.gid,
            extra_groups=[],
            cwd="/",
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        if done.returncode == 0:
            return
        why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    except (OSError, subprocess.SubprocessError) as error:
        why = str(error)
    raise Trouble(
        f"this repository belongs to {owner.name or owner.uid}, who cannot run this sekisho",
        why=why,
        instead=_by_hand(owner),
        status=GATE_BROKEN,
    )


def _by_hand(owner: Owner) -> str:
    who = owner.name or f"'#{owner.uid}'"
    return f"install sekisho where that user can read it, then: sudo -u {who} sekisho run ..."
