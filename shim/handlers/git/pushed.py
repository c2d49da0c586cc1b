"""Which refs of which remote a `git push` would change, told from its words and the repository. Pure.

What depends on more than that, and what git's rules (git-push(1), gitrevisions(7)) leave to the remote, is
not told: a guess could name another ref than the one that is sent.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from shim.options import spec
from shim.text import HOLE

HEADS, TAGS = "refs/heads/", "refs/tags/"
_CURRENT = ("HEAD", "@")
_FORCE = frozenset({"-f", "--force", "--force-with-lease", "--force-if-includes"})
_DELETE = frozenset({"-d", "--delete"})
# Options that change how a push is made or shown, never what it sends.
_PLAIN = spec(
    flags="-u --set-upstream -q --quiet -v --verbose --progress --no-progress --porcelain --thin --no-thin "
    "--atomic --no-atomic --verify --no-verify --no-dry-run -4 --ipv4 -6 --ipv6"
).flags
# Settings by which a push sends more than its words say, or elsewhere.
_WIDENING = re.compile(
    r"push\.(followtags|pushoption|recursesubmodules|gpgsign)|submodule\.recurse|"
    r"remote\.(?P<remote>.+)\.(mirror|push|receivepack|vcs|proxy)",
    re.IGNORECASE,
)
_REWRITING = re.compile(r"url\..+\.(push)?insteadof", re.IGNORECASE)
_OFF = frozenset({"false", "no", "off", "0", ""})
# In front of a short name git reads these as parts of a ref, or not, by what the remote has.
_HALF = ("heads/", "tags/", "remotes/")


class Untold(Exception):
    """What a push changes cannot be told; the text says why."""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """`config` as git lists it, section and last part in lower case; `head` the branch that is checked out,
    as a full ref, None where there is none; `refs` all local refs in full, each with what it stands for:
    itself, or the ref that a symbolic one leads to."""

    config: tuple[tuple[str, str], ...]
    head: str | None
    refs: Mapping[str, str]

    def all(self, key: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.config if name == key)

    def last(self, key: str) -> str | None:
        return next(iter(reversed(self.all(key))), None)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One ref that is created, moved or deleted. `force`: git would send it even if commits are lost."""

    ref: str
    delete: bool = False
    force: bool = False


class Pushed(msgspec.Struct, frozen=True, kw_only=True):
    """`url` is written as in the configuration, without a user. `absent` are names of no local ref, which
    were taken for branches."""

    url: str
    changes: tuple[Change, ...]
    absent: tuple[str, ...] = ()


def pushed(detail: Mapping[str, Any], repository: Repository) -> Pushed:
    """What the act of a `git push` (its `detail`, see `transfer.push`) would change. Raises Untold."""
    if not detail.get("as_configured"):
        raise Untold("settings, variables or options before the verb may lead elsewhere")
    options = frozenset(detail["options"])
    if more := sorted(options - _PLAIN - _FORCE - _DELETE):
        raise Untold(f"{more[0]} decides what else is sent")
    remote = detail["remote"] or _default_remote(repository)
    specs = tuple(detail["refspecs"]) or (_default_refspec(repository),)
    if any(HOLE in word for word in (remote, *specs)):
        raise Untold("a part of its words is not known")
    _require_plain_settings(repository, remote)
    absent: list[str] = []
    forced, deleting = bool(options & _FORCE), bool(options & _DELETE)
    changes = [change for spec in specs for change in _changes(spec, repository, forced, deleting, absent)]
    unique = tuple(dict.fromkeys(changes))
    return Pushed(url=_url(repository, remote), changes=unique, absent=tuple(dict.fromkeys(absent)))


def _require_plain_settings(repository: Repository, remote: str) -> None:
    for key, value in repository.config:
        widening = _WIDENING.fullmatch(key)
        if widening and widening["remote"] in (None, remote) and value.lower() not in _OFF:
            raise Untold(f"the setting {key} changes what is sent")


def _default_remote(repository: Repository) -> str:
    branch = f"branch.{_short(repository.head)}" if repository.head else ""
    keys = (f"{branch}.pushremote", "remote.pushdefault", f"{branch}.remote")
    named = next((value for key in keys if (value := repository.last(key))), None)
    if named:
        return named
    remotes = {key.split(".", 1)[1].rsplit(".", 1)[0] for key, _ in repository.config if _is_remote(key)}
    return next(iter(remotes)) if len(remotes) == 1 else "origin"


def _is_remote(key: str) -> bool:
    return key.startswith("remote.") and key.endswith((".url", ".pushurl"))


def _default_refspec(repository: Repository) -> str:
    if repository.head is None:
        raise Untold("no branch is checked out")
    how = (repository.last("push.default") or "simple").lower()
    if how in ("simple", "current"):
        return f"{repository.head}:{repository.head}"
    merge = repository.last(f"branch.{_short(repository.head)}.merge")
    if how in ("upstream", "tracking") and merge:
        return f"{repository.head}:{merge}"
    raise Untold(f"push.default is {how}")


def _url(repository: Repository, remote: str) -> str:
    urls = repository.all(f"remote.{remote}.pushurl") or repository.all(f"remote.{remote}.url") or (remote,)
    if len(urls) != 1:
        raise Untold(f"{remote} has {len(urls)} addresses to push to")
    url = urls[0]
    if any(_REWRITING.fullmatch(key) and url.startswith(value) for key, value in repository.config):
        raise Untold("a url.*.insteadOf setting rewrites its address")
    if not url.startswith(("https://", "http://")):
        raise Untold(f"{remote} is not reached over https, and a session reaches no other remote")
    return re.sub(r"//[^/@]*@", "//", url).rstrip("/")


def _changes(
    spec: str, repository: Repository, forced: bool, deleting: bool, absent: list[str]
) -> Iterator[Change]:
    forced, plain = forced or spec.startswith("+"), spec.removeprefix("+")
    source, colon, target = plain.partition(":")
    if spec == "tag" or "*" in spec or spec.startswith("^") or plain in (":", ""):
        raise Untold(f"{spec!r} stands for refs that only the remote knows, or for several words")
    if deleting or (colon and not source):
        names = _named(target or source, (HEADS, TAGS))
        yield from (Change(ref=name, delete=True) for name in names)
        return
    local = _local(source, repository, absent, only_named=bool(colon))
    if not colon:
        names = [local] if local else []
    else:
        # A short target is the branch of that name where the remote has one, else what the source is.
        names = _named(target, (HEADS, TAGS) if local and local.startswith(TAGS) else (HEADS,))
    if not names:
        raise Untold(f"what {spec!r} stands for cannot be told")
    yield from (Change(ref=name, force=forced) for name in names)


def _named(target: str, kinds: Sequence[str]) -> list[str]:
    if not target or target in _CURRENT or target.startswith(_HALF):
        raise Untold(f"what the remote makes of {target!r} cannot be told")
    return [target] if target.startswith("refs/") else [kind + target for kind in kinds]


def _local(source: str, repository: Repository, absent: list[str], *, only_named: bool) -> str | None:
    """The local ref in full; None for a commit, and where several fit."""
    if source in _CURRENT:
        return repository.head
    if source.startswith("refs/"):
        return repository.refs.get(source, source)
    tracking = f"refs/remotes/{source}"
    places = (f"refs/{source}", TAGS + source, HEADS + source, tracking, f"{tracking}/HEAD")
    found = [repository.refs[place] for place in places if place in repository.refs]
    if not found and not only_named and re.fullmatch(r"[\w][\w./-]*", source):
        absent.append(source)
        return HEADS + source
    return found[0] if len(found) == 1 and found[0].startswith((HEADS, TAGS)) else None


def _short(ref: str) -> str:
    return ref.removeprefix(HEADS)
