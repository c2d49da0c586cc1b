"""One session as its gatekeeper holds it: what was pinned at the start, and what follows from it."""

import contextlib
import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from netpolicy.address import OWN_MACHINE, is_loopback_host
from netpolicy.world import World, of_policy
from sandbox.saferead import read_file
from sekisho.broker import toolcalls
from sekisho.core.policy import Policy
from sekisho.core.remotes import remote_key, remote_keys
from sekisho.core.verdict import Context
from sekisho.sending import credentials
from sekisho.sending.artifact import Transport
from sekisho.sending.logins import Logins
from sekisho.session import settings
from sekisho.session.config import SessionConfig
from sekisho.store.store import Store

PURPOSE = "purpose.md"
PURPOSE_LIMIT = 16 * 1024


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """`world` is what observing may know, `context` what judging may know, `transport` how approved acts
    reach their hosts. `schemas` are those of policy's tools.
    `asked` are the ids of holds that this process was asked for.
    `policy_blob` is the digest of `policy_text` in the blobs, once `keep` was called."""

    config: SessionConfig
    policy: Policy
    policy_text: bytes
    world: World
    context: Context
    command_context: Context
    transport: Transport
    roots: bytes
    logins: Logins
    secrets: credentials.Secrets
    schemas: dict[str, Any] = {}
    asked: set[str] = set()

    @property
    def id(self) -> str:
        return self.config.session

    @property
    def folder(self) -> Path:
        return Path(self.config.folder)

    @property
    def policy_blob(self) -> str:
        return hashlib.sha256(self.policy_text).hexdigest()

    def keep(self, store: Store) -> None:
        """Keep what a hold needs to be executed after this session is gone. Raises StoreBroken."""
        store.blobs.put_bytes(self.policy_text)
        store.blobs.put_bytes(self.roots)

    def purpose(self) -> str:
        """What the agent wrote as its purpose, raw; empty where it wrote none or no plain file."""
        try:
            raw = read_file(self.folder / "outbox", PURPOSE.encode(), limit=PURPOSE_LIMIT)
        except OSError:
            return ""
        return raw.decode("utf-8", "replace").strip()


def load_state(config: SessionConfig) -> SessionState:
    """Read what the launcher pinned. Raises OSError, msgspec.DecodeError or msgspec.ValidationError."""
    text = Path(config.policy_file).read_bytes()
    policy = settings.decode(text)
    roots = Path(config.roots).read_bytes()
    local = {entry.port for entry in policy.network.local}
    remotes = remote_keys(url for remote in config.remotes for url in _names(remote, local))
    return SessionState(
        config=config,
        policy=policy,
        policy_text=text,
        world=of_policy(policy, profiles=config.profiles, secrets=credentials.known_secrets(policy)),
        context=Context(remotes=remotes),
        # What a command loses in the clone, a checkpoint brings back; in place a person is asked.
        command_context=Context(remotes=remotes, checkpointed=not config.in_place),
        transport=Transport(resolve=policy.network.resolve, ca=hashlib.sha256(roots).hexdigest()),
        roots=roots,
        logins=Logins(config.project),
        secrets=credentials.Secrets(),
        schemas=toolcalls.pin(policy, Path(config.folder)),
    )


def _names(url: str, local: Collection[int]) -> Iterator[str]:
    """A remote's URL; at a named port of the person's machine with the name that acts have, too."""
    yield url
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        if parts.port in local and is_loopback_host(parts.hostname or ""):
            yield parts._replace(netloc=f"{OWN_MACHINE}:{parts.port}").geturl()


def is_own(state: SessionState, url: str) -> bool:
    """Whether a URL names a remote of the person's repository."""
    try:
        return remote_key(url) in state.context.remotes
    except ValueError:
        return False
