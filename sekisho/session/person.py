"""What is read of the person's git configuration: who commits, and where the remotes are. One call."""

from pathlib import Path

import msgspec

from sandbox.environment import Person
from sandbox.workspace.git import attempt

_ASKED = r"^(user\.(name|email)|remote\..*\.(push)?url)$"


class GitPerson(msgspec.Struct, frozen=True, kw_only=True):
    """`remotes` are the URLs of all remotes, for reading and for pushing, as they are written."""

    who: Person
    remotes: tuple[str, ...]


def read(repository: Path) -> GitPerson:
    """Ask git in the person's repository. What is not set is empty. Raises GitError when git hangs."""
    found = attempt(repository, "config", "-z", "--get-regexp", _ASKED)
    entries = [entry.partition("\n") for entry in found.stdout.decode(errors="surrogateescape").split("\0")]
    last = {key: value for key, _, value in entries}
    remotes = (value for key, _, value in entries if key.startswith("remote."))
    return GitPerson(
        who=Person(name=_plain(last.get("user.name", "")), email=_plain(last.get("user.email", ""))),
        remotes=tuple(dict.fromkeys(remotes)),
    )


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
