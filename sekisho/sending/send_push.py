"""Sends a held push from the hold's own bare repository, with the person's credentials.

Exactly the approved object goes to the approved ref, and only if the ref still is where it was
(`--force-with-lease=ref:old`, git-push(1)). Hooks are off. Of the person's own repository only the
settings that say how to reach and log in to a remote are used.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from sekisho.sending.artifact import PushAct, push_host

TIMEOUT = 300.0
REACHING = r"^(credential\.|http\.|url\.|core\.sshcommand$|ssh\.|remote\..*\.proxy)"
_ZERO = "0"


class PushResult(msgspec.Struct, frozen=True, kw_only=True):
    """What git said. `status` is its exit status, `refs` maps a ref to git's own one-line verdict."""

    status: int
    refs: dict[str, str]
    output: str


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach the remote: the address that was checked (None: ssh or a proxy decides), and roots.

    `direct`: no proxy of the person's may lead there, as the address was pinned or is this machine's.
    """

    address: tuple[str, int] | None
    ca_file: str | None = None
    project: str | None = None
    interactive: bool = False
    direct: bool = False


def _git(
    repository: Path | None, reach: Reach, act: PushAct, *command: str
) -> subprocess.CompletedProcess[bytes]:
    settings = [
        ("core.hooksPath", os.devnull),
        ("core.fsmonitor", "false"),
        ("http.followRedirects", "false"),
        ("push.followTags", "false"),
        ("push.recurseSubmodules", "no"),
        *_person_settings(reach.project),
        *_pin(act, reach),
    ]
    env = git_environment(os.environ, settings, interactive=reach.interactive)
    named = ["--git-dir=."] if repository else []
    return subprocess.run(
        ["git", *named, *command],
        cwd=repository or "/",
        env=env,
        stdin=None if reach.interactive else subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT,
    )


def git_environment(
    environ: Mapping[str, str], settings: Iterable[tuple[str, str]], *, interactive: bool
) -> dict[str, str]:
    """The person's environment with `settings` as git's configuration (GIT_CONFIG_COUNT, git-config(1))."""
    env = {
        k: v
        for k, v in environ.items()
        if not k.startswith("GIT_") or k in ("GIT_ASKPASS", "GIT_SSH_COMMAND")
    }
    # What lies in a tree may be a repository that an agent committed; ours are named (git-config(1)).
    pairs = [("safe.bareRepository", "explicit"), *settings]
    env["GIT_CONFIG_COUNT"] = str(len(pairs))
    for index, (key, value) in enumerate(pairs):
        env[f"GIT_CONFIG_KEY_{index}"], env[f"GIT_CONFIG_VALUE_{index}"] = key, value
    if not interactive:
        env["GIT_TERMINAL_PROMPT"] = "0"
    return env


def _person_settings(project: str | None) -> list[tuple[str, str]]:
    """Local settings of the person's repository that say how to reach remotes and log in to them."""
    if project is None or not Path(project).is_dir():
        return []
    found = subprocess.run(
        ["git", "-C", project, "config", "--local", "-z", "--get-regexp", REACHING],
        env=git_environment(os.environ, (), interactive=False),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT,
    )
    entries = found.stdout.decode(errors="surrogateescape").split("\0")[:-1]
    return [(key, value) for key, _, value in (entry.partition("\n") for entry in entries)]


def _pin(act: PushAct, reach: Reach) -> list[tuple[str, str]]:
    """Dial the checked address and no other; trust what the policy trusts."""
    settings = [("http.sslCAInfo", reach.ca_file)] if reach.ca_file else []
    if reach.direct:
        settings.append(("http.proxy", ""))  # git-config(1): an empty one switches all proxies off
    scheme, host, port = push_host(act)
    if reach.address is None or scheme not in ("http", "https"):
        return settings
    address, dialled = reach.address
    if dialled != port:
        settings.append((f"url.{scheme}://{host}:{dialled}/.insteadOf", f"{scheme}://{_authority(act)}/"))
    quoted = f"[{address}]" if ":" in address else address
    return [*settings, ("http.curloptResolve", f"{host}:{dialled}:{quoted}")]


def _authority(act: PushAct) -> str:
    return act.remote.split("://", 1)[1].split("/", 1)[0]


def remote_refs(act: PushAct, folder: Path, reach: Reach, *, only: bool = False) -> dict[str, str]:
    """The remote's refs as they are now, name to object id; with `only` those of the act alone.

    `folder` is where git runs. Raises OSError when they cannot be read.
    """
    wanted = [update.ref for update in act.updates] if only else []
    where = folder if folder.is_dir() else None
    found = _git(where, reach, act, "ls-remote", "--quiet", act.remote, *wanted)
    if found.returncode:
        raise OSError(found.stderr.decode(errors="replace").strip() or "git ls-remote failed")
    lines = (line.split("\t", 1) for line in found.stdout.decode(errors="surrogateescape").splitlines())
    return {name: oid for oid, name in lines}


def moved(act: PushAct, now: Mapping[str, str]) -> str | None:
    """What moved since the push was held, as one sentence; None if every ref is where it was."""
    for update in act.updates:
        expected = "nothing" if is_zero(update.old) else update.old
        current = now.get(update.ref, "nothing")
        if current != expected:
            return f"{update.ref} is at {current}, not at {expected}"
    return None


def is_zero(oid: str) -> bool:
    """The all-zeros object id: the ref does not exist (gitprotocol-pack)."""
    return oid.strip(_ZERO) == ""


def push(act: PushAct, repository: Path, reach: Reach, *, dry: bool = False) -> PushResult:
    """Push exactly `act`, atomically where there are several refs. Raises subprocess.TimeoutExpired.

    `dry`: log in, ask the remote for its refs and send nothing (git-push(1), --dry-run).
    """
    leases = [f"--force-with-lease={u.ref}:{'' if is_zero(u.old) else u.old}" for u in act.updates]
    specs = [f":{u.ref}" if is_zero(u.new) else f"{u.new}:{u.ref}" for u in act.updates]
    atomic = ["--atomic"] if len(act.updates) > 1 else []
    options = [f"--push-option={option}" for option in act.options]
    done = _git(
        repository,
        reach,
        act,
        "push",
        "--porcelain",
        "--no-verify",
        *(["--dry-run"] if dry else []),
        *atomic,
        *leases,
        *options,
        act.remote,
        *specs,
    )
    return PushResult(
        status=done.returncode,
        refs=porcelain_refs(done.stdout.decode(errors="surrogateescape")),
        output=(done.stdout + done.stderr).decode(errors="replace"),
    )


def porcelain_refs(output: str) -> dict[str, str]:
    """Ref to `flag summary` from `git push --porcelain` (git-push(1), OUTPUT)."""
    rows = (line.split("\t") for line in output.splitlines() if line.count("\t") == 2)
    return {names.rpartition(":")[2]: f"{flag.strip()} {summary}".strip() for flag, names, summary in rows}
