"""One name for a git remote, however its URL is written."""

import re
from collections.abc import Iterable

_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/@]*@)?(?P<host>[^/]*)(?P<path>/.*)?", re.I | re.DOTALL
)
_SCP = re.compile(r"(?:[^/@:]+@)?(?P<host>\[[^\]]+\]|[^/:]+):(?P<path>(?!/{2}).*)", re.DOTALL)
_PLAIN = "http://"
_DEFAULT_PORTS = {"https": "443", "http": "80", "ssh": "22", "git": "9418"}


def remote_key(url: str) -> str:
    """`host/path` in lower-case host, without scheme, user, default port and `.git`.

    `git@github.com:acme/app.git` and `https://github.com/acme/app` give the same key. Plain `http://` stays
    in front: there everybody on the way reads the login, so it is no other way to the same remote. A path of
    the local machine gives that path. Raises ValueError for what names no repository.
    """
    match = _URL.fullmatch(url) or (None if url.startswith(("/", ".")) else _SCP.fullmatch(url))
    if match is None or match.groupdict().get("scheme") == "file":
        path = url.removeprefix("file://").rstrip("/").removesuffix(".git")
        if not path:
            raise ValueError(f"{url!r} names no repository")
        return path
    host = match["host"].lower()
    port = _DEFAULT_PORTS.get((match.groupdict().get("scheme") or "ssh").lower())
    path = (match["path"] or "").strip("/").removesuffix(".git")
    if not host or not path:
        raise ValueError(f"{url!r} names no repository")
    key = f"{host.removesuffix(f':{port}') if port else host}/{path}"
    return f"{_PLAIN}{key}" if (match.groupdict().get("scheme") or "").lower() == "http" else key


def remote_keys(urls: Iterable[str]) -> frozenset[str]:
    """The keys of those that name a repository; a remote that names none lends nothing."""
    keys = set()
    for url in urls:
        try:
            keys.add(remote_key(url))
        except ValueError:
            continue
    return frozenset(keys)


def host_of(key: str) -> str:
    """The host of a key, with its port unless that is the usual one."""
    return key.removeprefix(_PLAIN).partition("/")[0]
