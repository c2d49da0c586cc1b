"""What was last seen of one remote: the refs that the person's own repository keeps of it."""

from collections.abc import Iterable, Sequence

from sandbox.workspace.git import GitError, git, lines
from sekisho.core.remotes import remote_key

_SETTINGS = r"^remote\..*\.(url|pushurl|fetch)$"
_SEEN = "refs/remotes/"


def last_seen(git_dir: str, url: str) -> tuple[str, ...]:
    """Ids that the remote at `url` had when it was last read or pushed to; none where nobody can tell."""
    env = {"GIT_DIR": git_dir}
    try:
        settings = git(git_dir, "config", "-z", "--get-regexp", _SETTINGS, env=env)
        ours, others = places(_entries(settings), url)
        if not ours:
            return ()
        listed = git(git_dir, "for-each-ref", "--format=%(objectname) %(refname)", *ours, env=env)
    except GitError:
        return ()
    rows = (row.split(" ", 1) for row in listed.decode("utf-8", "surrogateescape").splitlines())
    return tuple(oid for oid, ref in rows if not ref.startswith(tuple(others)))


def _entries(settings: bytes) -> list[tuple[str, str]]:
    texts = (entry.decode("utf-8", "surrogateescape") for entry in lines(settings))
    return [(key, value) for key, _, value in (text.partition("\n") for text in texts)]


def places(settings: Sequence[tuple[str, str]], url: str) -> tuple[list[str], list[str]]:
    """Where the refs of the remote at `url` are kept, and where those of all others are: prefixes of refs.

    A remote that is pushed to elsewhere than it is read from does not count: its refs may tell of either.
    """
    wanted = _key(url)
    ours: list[str] = []
    others: list[str] = []
    for name in dict.fromkeys(_name(key) for key, _ in settings):
        urls = _values(settings, name, ("url", "pushurl"))
        kept = [place for spec in _values(settings, name, ("fetch",)) if (place := _place(spec))]
        same = wanted is not None and {_key(value) for value in urls} == {wanted}
        (ours if same else others).extend(kept)
    return ours, others


def _values(settings: Iterable[tuple[str, str]], name: str, kinds: Sequence[str]) -> list[str]:
    keys = {f"remote.{name}.{kind}" for kind in kinds}
    return [value for key, value in settings if key in keys]


def _name(key: str) -> str:
    return key.removeprefix("remote.").rpartition(".")[0]


def _key(url: str) -> str | None:
    try:
        return remote_key(url)
    except ValueError:
        return None


def _place(spec: str) -> str | None:
    """The prefix that a refspec writes below, as for-each-ref takes it (gitrevisions, git-fetch(1))."""
    target = spec.partition(":")[2]
    if not target.startswith(_SEEN) or not target.endswith("/*"):
        return None
    return target.removesuffix("*")
