"""The person's own logins for reading the remotes of their repository.

Asked of git's credential helpers (git-credential(1)) outside, once for each host, and used for nothing but
fetches from remotes that the repository has. The agent never sees them.
"""

import asyncio
import os
import subprocess
from base64 import b64encode

from sekisho.sending.send_push import git_environment

TIMEOUT = 10.0
Header = tuple[str, str]


class Logins:
    """Remembers what the helpers said, also that they said nothing."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._known: dict[tuple[str, str], tuple[Header, ...]] = {}

    def known(self, scheme: str, host: str) -> tuple[Header, ...] | None:
        """The headers for a host; None while nobody has been asked."""
        return self._known.get((scheme, host))

    async def ask(self, scheme: str, host: str) -> tuple[Header, ...]:
        """Ask the helpers; no headers where they have no login."""
        found = await asyncio.to_thread(fill, self._project, scheme, host)
        self._known[scheme, host] = found
        return found


def fill(project: str, scheme: str, host: str) -> tuple[Header, ...]:
    """`git credential fill` without asking anybody; empty where there is no login."""
    env = git_environment(os.environ, (), interactive=False) | {"GIT_ASKPASS": "", "SSH_ASKPASS": ""}
    try:
        done = subprocess.run(
            ["git", "-C", project, "-c", "core.askPass=", "credential", "fill"],
            input=f"protocol={scheme}\nhost={host}\n\n".encode(),
            env=env,
            capture_output=True,
            timeout=TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    pairs = (line.split("=", 1) for line in done.stdout.decode(errors="replace").splitlines() if "=" in line)
    said = dict(pairs)
    if done.returncode or not said.get("password"):
        return ()
    token = b64encode(f"{said.get('username', '')}:{said['password']}".encode()).decode()
    return (("Authorization", f"Basic {token}"),)
