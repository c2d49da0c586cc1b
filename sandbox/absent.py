"""Tools that are absent inside: not forbidden by a request, but not there. A stub says how to ask."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from sandbox.spec import Mount, MountKind

ABSENT: dict[str, tuple[str, ...]] = {
    "mail": (
        "mail", "mailx", "s-nail", "bsd-mailx", "sendmail", "postfix", "exim4", "msmtp", "ssmtp", "swaks",
        "mutt", "neomutt", "alpine", "thunderbird", "evolution",
    ),
    "browser": (
        "firefox", "firefox-esr", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
        "brave-browser", "microsoft-edge", "opera", "vivaldi", "epiphany", "konqueror", "lynx", "links",
        "elinks", "w3m", "xdg-open", "sensible-browser", "x-www-browser", "www-browser", "gio", "wslview",
    ),
    "ssh": (
        "ssh", "scp", "sftp", "slogin", "sshfs", "ssh-copy-id", "ssh-add", "ssh-agent", "sshd", "mosh",
        "autossh", "dbclient", "telnet", "ftp", "lftp", "ncftp", "rsh", "rlogin", "nc", "ncat", "netcat",
        "socat",
    ),
    "deploy": (
        "kubectl", "oc", "helm", "helmfile", "argocd", "flux", "terraform", "tofu", "terragrunt", "pulumi",
        "ansible", "ansible-playbook", "cdk", "sam", "serverless", "sls", "aws", "gcloud", "gsutil", "bq",
        "az", "doctl", "flyctl", "fly", "heroku", "vercel", "netlify", "wrangler", "railway", "render",
        "firebase", "cap", "nomad", "vault", "skaffold", "eksctl", "copilot",
    ),
    "container": (
        "docker", "docker-compose", "podman", "podman-compose", "nerdctl", "ctr", "crictl", "buildah",
        "skopeo", "lxc", "lxd", "incus", "vagrant", "virsh",
    ),
    "host": (
        "sudo", "sudoedit", "su", "doas", "pkexec", "runuser", "systemctl", "service", "loginctl",
        "shutdown", "reboot", "crontab", "at", "batch", "dbus-send", "busctl", "gdbus",
    ),
}  # fmt: skip
KIND = {name: kind for kind, names in ABSENT.items() for name in names}

# One file that is many programs: covering it would take all of them away.
MULTI_CALL = frozenset({"busybox", "toybox", "coreutils", "uutils", "systemctl"})
ONLY_DIR = "/run/sekisho/only"

# In the form of every refusal, see sekisho.core.refusal.
_STUB = """#!/bin/sh
echo 'sekisho: denied (absent-tool): {name} ({kind}) is absent in this sandbox' >&2
echo '  why: {why}' >&2
echo '  next: {instead}' >&2
exit 77
"""
_ASK = (
    'its kind is left out; the person can allow it: sandbox.tools.keep = ["{name}"] in sekisho.toml',
    "if the work needs it, ask ahead with evidence: sekisho-request --help",
)
# Kept, these would be there and reach nothing: whoever follows that advice has lost an hour.
_NO_WIRE = (
    "only HTTP and HTTPS leave it: sandbox.tools.keep would bring the program, but no connection",
    "a git remote needs an https URL, which the person sets: git remote set-url NAME https://HOST/PATH",
)


def words(name: str, kind: str) -> tuple[str, str]:
    """Why an absent tool is, and what to do instead."""
    why, instead = _NO_WIRE if kind == "ssh" else _ASK
    return why.format(name=name), instead


def stub(name: str, kind: str) -> str:
    """The script that stands where an absent tool is called: what to do instead, and status 77."""
    why, instead = words(name, kind)
    return _STUB.format(name=name, kind=kind, why=why, instead=instead)


class View(msgspec.Struct, frozen=True, kw_only=True):
    """The tools inside: mounts on top of all others, the PATH, and names that could not be hidden."""

    mounts: tuple[Mount, ...]
    path: str
    unhidden: tuple[str, ...] = ()


def view(path: str, *, keep: Iterable[str] = (), only: Sequence[str] | None = None, lead: str = "") -> View:
    """What to put over the tools that `path` leads to.

    `keep` are names that stay. With `only`, PATH inside leads to just these (after `lead`, the folder of
    the shim); what is absent by name is covered all the same unless it is listed.
    """
    kept = {*keep, *(only or ())}
    covers, unhidden = _covers(path.split(":"), kept)
    if only is None:
        return View(mounts=covers, path=path, unhidden=unhidden)
    links = tuple(
        Mount(kind=MountKind.LINK, source=found, target=f"{ONLY_DIR}/{name}")
        for name in dict.fromkeys(only)
        if (found := shutil.which(name, path=path))
    )
    return View(mounts=(*covers, *links), path=":".join(filter(None, (lead, ONLY_DIR))), unhidden=unhidden)


def _covers(folders: Sequence[str], kept: set[str]) -> tuple[tuple[Mount, ...], tuple[str, ...]]:
    stubs: dict[str, Mount] = {}
    shared: dict[str, str] = {}
    needed = {os.path.realpath(found) for name in kept if (found := _which(name, folders))}
    present = _present(folders)
    there = frozenset[str]().union(*present.values())
    for name, kind in KIND.items():
        for real in _found(name, present) if name in there and name not in kept else []:
            if real in needed or (os.path.basename(real) in MULTI_CALL and os.path.basename(real) != name):
                shared[name] = real
            else:
                stubs.setdefault(real, _stub(real, name, kind))
    return tuple(stubs.values()), tuple(name for name, real in shared.items() if real not in stubs)


def _which(name: str, folders: Sequence[str]) -> str | None:
    return shutil.which(name, path=":".join(folders))


def _found(name: str, present: Mapping[str, set[str]]) -> list[str]:
    """The real files behind a name in every folder: two folders may hold two of them."""
    paths = (os.path.join(folder, name) for folder, names in present.items() if name in names)
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.isfile(path)))


def _present(folders: Sequence[str]) -> dict[str, set[str]]:
    """The absent tools in each folder: listing it once is cheaper than asking for every one."""
    present = {}
    for folder in dict.fromkeys(folders):
        with contextlib.suppress(OSError):
            present[folder] = KIND.keys() & os.listdir(folder)
    return present


def _stub(real: str, name: str, kind: str) -> Mount:
    content = stub(name, kind).encode()
    return Mount(kind=MountKind.DATA, target=real, content=content, mode=0o755)
