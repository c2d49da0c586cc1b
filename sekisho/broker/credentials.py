"""The person's credentials, fetched outside at the moment they are needed."""

import os
import shlex
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from netpolicy.presets import shipped
from sekisho.core.action import Action, Effect
from sekisho.core.patterns import host_matches, most_specific, specificity, split_port
from sekisho.core.policy import CredentialEntry, Model, Policy

TIMEOUT = 20.0
SHORTEST_SECRET = 12  # characters; a shorter text is found in innocent requests
# Where a provider's clients put the key; None is `Authorization: Bearer`.
_KEY_HEADERS = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}


class CredentialError(Exception):
    """A credential that the policy names could not be fetched; the text never holds the value."""


def fetch(secret: str) -> str:
    """The value behind `env:NAME` or `cmd:ARGV`. Raises CredentialError."""
    kind, _, rest = secret.partition(":")
    if kind == "env":
        if rest not in os.environ:
            raise CredentialError(f"the variable {rest} is not set where the gatekeeper was started")
        return os.environ[rest]
    if kind == "cmd":
        return _ask(shlex.split(rest))
    raise CredentialError(f"{kind}: is no way to fetch a credential")


def _ask(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CredentialError(f"`{argv[0]}` could not be asked: {type(error).__name__}") from error
    if done.returncode:
        raise CredentialError(f"`{argv[0]}` ended with status {done.returncode}")
    return done.stdout.decode().strip()


class Place(NamedTuple):
    """Where a request goes: `host` canonical, `port` as it is dialled."""

    scheme: str
    host: str
    port: int


def may_go(pattern: str, place: Place) -> bool:
    """Whether a credential of the hosts of `pattern` may go there.

    Without TLS everybody on the way reads it: only to a port that the person named, as they know what answers
    there.
    """
    named = split_port(pattern)[1] is not None
    return host_matches(pattern, place.host, place.port) and (named or place.scheme in ("https", "wss"))


def entry_for(policy: Policy, place: Place, *, use: Iterable[str]) -> CredentialEntry | None:
    """The most specific credential of `policy` for a place, among those meant for `use`."""
    wanted = set(use)
    fitting = [c for c in policy.network.credential if c.use in wanted and may_go(c.host, place)]
    best = most_specific(fitting, lambda entry: specificity(entry.host))
    return best[0] if best else None


def header_of(entry: CredentialEntry) -> tuple[str, str]:
    """The header that carries a credential (RFC 6750, RFC 7617). Raises CredentialError."""
    value = fetch(entry.value)
    if entry.scheme == "none":
        return entry.header, value
    if entry.scheme == "basic":
        from base64 import b64encode

        return entry.header, "Basic " + b64encode(f"{entry.user or ''}:{value}".encode()).decode()
    return entry.header, f"{entry.scheme.capitalize()} {value}"


def model_header(model: Model) -> tuple[str, str]:
    """The header with a model provider's key. Raises CredentialError."""
    key = fetch(model.key)
    name = _KEY_HEADERS.get(model.provider)
    return (name, key) if name else ("Authorization", f"Bearer {key}")


def for_read(policy: Policy, place: Place, action: Action) -> tuple[tuple[str, str], ...]:
    """The header that a free request gets from the policy, if any. Raises CredentialError."""
    if action.effect is Effect.MODEL:
        preset = shipped().find(place.host)
        provider = preset.provider if preset is not None else None
        for model in policy.network.model:
            if _serves(model, provider, place):
                return (model_header(model),)
    entry = entry_for(policy, place, use=("read",))
    return () if entry is None else (header_of(entry),)


def _serves(model: Model, provider: str | None, place: Place) -> bool:
    """Whether a request to a place is a call of this model: by its own host, or the provider's known ones."""
    if model.host is not None:
        return may_go(model.host, place)
    return place.scheme in ("https", "wss") and provider is not None and model.provider == provider


def known_secrets(policy: Policy) -> tuple[str, ...]:
    """Values that must never leave in what the agent sends: those of variables, which are cheap to read."""
    named = [*(m.key for m in policy.network.model), *(c.value for c in policy.network.credential)]
    values = (os.environ.get(name.removeprefix("env:"), "") for name in named if name.startswith("env:"))
    return tuple(value for value in values if len(value) >= SHORTEST_SECRET)
