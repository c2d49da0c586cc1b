"""What of a person's home must never be seen inside, and what hides it where it lies in something mounted."""

import os
from collections.abc import Iterable, Iterator
from functools import cache
from glob import escape, glob

from sandbox.spec import Mount, MountKind

# Below home: folders and files that hold logins, keys or letters, or much that is nobody's business.
SECRET = (
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude",
    ".claude.json",
    ".codex",
    ".config",
    ".docker",
    ".gem/credentials",
    ".gemini",
    ".git-credentials",
    ".gitconfig",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/keyrings",
    ".local/share/uv/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pki",
    ".pypirc",
    ".rustup/credentials",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
    ".vault-token",
    ".yarnrc",
    ".yarnrc.yml",
    ".zsh_history",
)
# Programs that live in such a folder.
INSTALLED_THERE = (".claude/local",)

# Below anything mounted: settings of an installation that may carry a token.
IN_TREES = (
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".env",
    "credentials",
    "credentials.toml",
    "etc/npmrc",
    "*/etc/npmrc",
    "versions/*/etc/npmrc",
    "versions/node/*/etc/npmrc",
    "node-versions/*/installation/etc/npmrc",
    "pip.conf",
    "versions/*/pip.conf",
)


def is_secret(path: str, home: str) -> bool:
    """Whether `path` is, or lies in, what must not be mounted; home itself and what holds it too."""
    below = path + "/"
    return _within(home, path) or (
        below.startswith(_folders(home, SECRET)) and not below.startswith(_folders(home, INSTALLED_THERE))
    )


@cache
def _folders(home: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(os.path.join(home, name) + "/" for name in names)


def masks(mounted: Iterable[str], home: str) -> tuple[Mount, ...]:
    """Mounts that hide the secrets which lie in these folders. To be put on top of them."""
    found = dict.fromkeys(path for folder in mounted for path in _secrets_in(folder, home))
    return tuple(_mask(path) for path in found)


def _secrets_in(folder: str, home: str) -> Iterator[str]:
    for name in SECRET:
        path = os.path.join(home, name)
        if _within(path, folder) and os.path.lexists(path):
            yield path
    for pattern in IN_TREES:
        found = glob(os.path.join(escape(folder), pattern), include_hidden=True)
        yield from (path for path in found if os.path.exists(path))


def _mask(path: str) -> Mount:
    if os.path.isdir(path):
        return Mount(kind=MountKind.TMPFS, target=path, size=4096, mode=0o555, guards=True)
    return Mount(kind=MountKind.RO, source="/dev/null", target=path, guards=True)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
