"""The clone's git configuration: a text made from what may be known inside. Pure.

Format: git-config(1). Credentials in URLs are left out; programs (aliases, helpers, filters, hooks)
are not carried at all.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from sandbox.workspace.source import Source

_CORE = frozenset(
    f"core.{name}"
    for name in (
        *("filemode", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf"),
        *("longpaths", "quotepath", "sparsecheckout", "sparsecheckoutcone", "abbrev", "commentchar"),
    )
)
_PLAIN = _CORE | {"user.name", "user.email", "extensions.partialclone", "init.defaultbranch"}
_REMOTE = frozenset({"fetch", "tagopt", "prune", "promisor", "partialclonefilter"})
_BRANCH = frozenset({"merge", "rebase", "description"})
_BRANCH_REMOTE = frozenset({"remote", "pushremote"})
_SECRET_QUERY = re.compile(r"(?i)(token|key|secret|passw|sig|auth|credential)[^=&]*=")

Setting = tuple[str, str]


def clone_config(source: Source) -> bytes:
    """The text of the clone's `config` file."""
    partial = any(key == "extensions.partialclone" for key, _ in source.config)
    version = 1 if partial or source.object_format != "sha1" else 0
    settings: list[Setting] = [("core.repositoryformatversion", str(version)), ("core.bare", "false")]
    settings.append(("core.logallrefupdates", "true"))
    if source.object_format != "sha1":
        settings.append(("extensions.objectformat", source.object_format))
    settings += _last_wins((key, value) for key, value in source.config if key in _PLAIN)
    settings += list(_remotes(source.config)) + list(_branches(source.config))
    return render(settings)


def strip_credentials(url: str) -> str:
    """The URL without a password or token; a login name that ssh needs stays."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    authority, slash, path = rest.partition("/")
    userinfo, at, host = authority.rpartition("@")
    if at:
        user = userinfo.partition(":")[0]
        authority = f"{user}@{host}" if scheme.lower() in ("ssh", "git+ssh", "ssh+git") else host
    plain = f"{scheme}{separator}{authority}{slash}{path}"
    if "?" in path and _SECRET_QUERY.search(urlsplit(plain).query):
        plain = plain.partition("?")[0]
    return plain


def rewrite(url: str, config: Sequence[Setting], kind: str = "insteadof") -> str | None:
    """The URL that `url.<base>.insteadOf` (or `pushinsteadof`) makes of it; None where no rule fits."""
    best: tuple[int, str] | None = None
    for key, prefix in config:
        if key.startswith("url.") and key.endswith("." + kind) and url.startswith(prefix):
            base = key[len("url.") : -len(kind) - 1]
            if best is None or len(prefix) > best[0]:
                best = (len(prefix), base)
    return best[1] + url[best[0] :] if best else None


def render(settings: Iterable[Setting]) -> bytes:
    """Settings as a config file."""
    text = []
    for key, value in settings:
        section, _, rest = key.partition(".")
        subsection, dot, name = rest.rpartition(".")
        head = f"[{section} {_quoted_subsection(subsection)}]" if dot else f"[{section}]"
        text.append(f"{head}\n\t{name} = {_quoted(value)}\n")
    return "".join(text).encode("utf-8", "surrogateescape")


def _remotes(config: Sequence[Setting]) -> Iterable[Setting]:
    pushed = {key.rpartition(".")[0] for key, _ in config if key.endswith(".pushurl")}
    for key, value in config:
        section, _, name = key.rpartition(".")
        if not section.startswith("remote."):
            continue
        if name == "url":
            yield key, strip_credentials(rewrite(value, config) or value)
            push = rewrite(value, config, "pushinsteadof")
            if push and section not in pushed:
                yield f"{section}.pushurl", strip_credentials(push)
        elif name == "pushurl":
            yield key, strip_credentials(rewrite(value, config) or value)
        elif name in _REMOTE:
            yield key, value


def _branches(config: Sequence[Setting]) -> Iterable[Setting]:
    for key, value in config:
        section, _, name = key.rpartition(".")
        if section.startswith("branch."):
            if name in _BRANCH:
                yield key, value
            elif name in _BRANCH_REMOTE:
                yield key, strip_credentials(value)


def _last_wins(settings: Iterable[Setting]) -> list[Setting]:
    return list(dict(settings).items())


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _quoted_subsection(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
