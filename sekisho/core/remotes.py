"""One name for a git remote, however its URL is written."""

import re

_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/@]*@)?(?P<host>[^/]*)(?P<path>/.*)?", re.I | re.DOTALL
)
_SCP = re.compile(r"(?:[^/@:]+@)?(?P<host>\[[^\]]+\]|[^/:]+):(?P<path>(?!/{2}).*)", re.DOTALL)
_DEFAULT_PORTS = {"https": "443", "http": "80", "ssh": "22", "git": "9418"}


def remote_key(url: str) -> str:
    """`host/path` in lower-case host, without scheme, user, default port and `.git`.

    `git@github.com:acme/app.git` and `https://github.com/acme/app` give the same key. A path of the
    local machine gives that path. Raises ValueError for what names no repository.
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
    return f"{host.removesuffix(f':{port}') if port else host}/{path}"
