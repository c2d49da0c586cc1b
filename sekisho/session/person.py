"""What is read of the person's git configuration: who commits, and where the remotes are. One call."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sandbox.environment import Person
from sandbox.workspace.config import rewrite
from sandbox.workspace.git import attempt

_ASKED = r"^(user\.(name|email)|remote\..*\.(push)?url|url\..*\.(push)?insteadof)$"
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://", re.I)
_SCP = re.compile(r"(?:[^/@:]+@)?(\[[^\]]+\]|[^/:.][^/:]*):")  # gitprotocol: a colon before any slash


class GitPerson(msgspec.Struct, frozen=True, kw_only=True):
    """`remotes` are the URLs of all remotes, for reading and for pushing, as they are written; `by_ssh` those
    that git reaches by ssh, as name and URL."""

    who: Person
    remotes: tuple[str, ...]
    by_ssh: tuple[tuple[str, str], ...] = ()


def read(repository: Path) -> GitPerson:
    """Ask git in the person's repository. What is not set is empty. Raises GitError when git hangs."""
    found = attempt(repository, "config", "-z", "--get-regexp", _ASKED)
    entries = [entry.partition("\n") for entry in found.stdout.decode(errors="surrogateescape").split("\0")]
    last = {key: value for key, _, value in entries}
    remotes = (value for key, _, value in entries if key.startswith("remote."))
    return GitPerson(
        who=Person(name=_plain(last.get("user.name", "")), email=_plain(last.get("user.email", ""))),
        remotes=tuple(dict.fromkeys(remotes)),
        by_ssh=tuple(_by_ssh([(key, value) for key, _, value in entries])),
    )


def _by_ssh(config: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """As git rewrites URLs: git-config(1), url.<base>.insteadOf and pushInsteadOf."""
    found = set()
    for key, value in config:
        if not key.startswith("remote."):
            continue
        url = rewrite(value, config) or value
        push = rewrite(value, config, "pushinsteadof") if key.endswith(".url") else None
        name = key.removeprefix("remote.").rpartition(".")[0]
        for used in (url, push or url):
            if is_ssh(used) and name not in found:
                found.add(name)
                yield name, used


def is_ssh(url: str) -> bool:
    """Whether git would call ssh for it."""
    scheme = _URL.match(url)
    if scheme:
        return scheme["scheme"].lower() in ("ssh", "git+ssh", "ssh+git")
    return _SCP.match(url) is not None


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
