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


BY_SSH, BY_PATH = "by ssh", "by a path on this machine"


class CutOff(msgspec.Struct, frozen=True):
    """A remote, its URL, and how git reaches it: `by ssh`."""

    name: str
    url: str
    how: str


class GitPerson(msgspec.Struct, frozen=True, kw_only=True):
    """`remotes` are the URLs of all remotes, for reading and for pushing, as they are written; `cut_off` are
    those that git reaches in a way that does not leave a session."""

    who: Person
    remotes: tuple[str, ...]
    cut_off: tuple[CutOff, ...] = ()


def read(repository: Path) -> GitPerson:
    """Ask git in the person's repository. What is not set is empty. Raises GitError when git hangs."""
    found = attempt(repository, "config", "-z", "--get-regexp", _ASKED)
    entries = [entry.partition("\n") for entry in found.stdout.decode(errors="surrogateescape").split("\0")]
    last = {key: value for key, _, value in entries}
    remotes = (value for key, _, value in entries if key.startswith("remote."))
    return GitPerson(
        who=Person(name=_plain(last.get("user.name", "")), email=_plain(last.get("user.email", ""))),
        remotes=tuple(dict.fromkeys(remotes)),
        cut_off=tuple(_cut_off([(key, value) for key, _, value in entries])),
    )


def _cut_off(config: Sequence[tuple[str, str]]) -> Iterator[CutOff]:
    """As git rewrites URLs: git-config(1), url.<base>.insteadOf and pushInsteadOf."""
    found = set()
    for key, value in config:
        if not key.startswith("remote."):
            continue
        url = rewrite(value, config) or value
        push = rewrite(value, config, "pushinsteadof") if key.endswith(".url") else None
        name = key.removeprefix("remote.").rpartition(".")[0]
        for used in (url, push or url):
            if (how := way(used)) and name not in found:
                found.add(name)
                yield CutOff(name, used, how)


def way(url: str) -> str | None:
    """How git would reach it, see gitprotocol; None for HTTP, which alone leaves a session."""
    if (found := _URL.match(url)) is None:
        return BY_SSH if _SCP.match(url) else BY_PATH
    scheme = found["scheme"].lower()
    if scheme in ("http", "https"):
        return None
    if scheme == "file":
        return BY_PATH
    return BY_SSH if scheme in ("ssh", "git+ssh", "ssh+git") else f"by {scheme}://"


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
