"""The person's credentials, fetched outside at the moment they are needed."""

import asyncio
import os
import shlex
import subprocess
from collections.abc import Callable, Iterable
from time import monotonic
from typing import NamedTuple

from netpolicy.address import OWN_NAMES, is_loopback_host
from sekisho.core.action import Action, Effect
from sekisho.core.patterns import host_matches, most_specific, specificity, split_port
from sekisho.core.policy import CredentialEntry, Model, Policy

TIMEOUT = 20.0
KEPT = 60.0  # seconds for which reads use what a command told
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
        return _one_line(os.environ[rest], f"the variable {rest}")
    if kind == "cmd":
        argv = shlex.split(rest)
        return _one_line(_ask(argv), f"`{argv[0]}`")
    raise CredentialError(f"{kind}: is no way to fetch a credential")


def _one_line(value: str, source: str) -> str:
    """The value, if it can stand in a header (RFC 9110, 5.5): a line's end in it would begin another one."""
    if any(mark in value for mark in "\r\n\0"):
        raise CredentialError(f"what {source} holds is more than one line")
    return value


def _ask(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CredentialError(f"`{argv[0]}` could not be asked: {type(error).__name__}") from error
    if done.returncode:
        raise CredentialError(f"`{argv[0]}` ended with status {done.returncode}")
    try:
        return done.stdout.decode().strip()
    except UnicodeDecodeError:
        raise CredentialError(f"`{argv[0]}` told what is not UTF-8") from None


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
    # A port of the person's own machine has these names, whichever of them the agent uses.
    hosts = OWN_NAMES if is_loopback_host(place.host) else (place.host,)
    fits = any(host_matches(pattern, host, place.port) for host in hosts)
    return fits and (named or place.scheme in ("https", "wss"))


def entry_for(policy: Policy, place: Place, *, use: Iterable[str]) -> CredentialEntry | None:
    """The most specific credential of `policy` for a place, among those meant for `use`."""
    wanted = set(use)
    fitting = [c for c in policy.network.credential if c.use in wanted and may_go(c.host, place)]
    best = most_specific(fitting, lambda entry: specificity(entry.host))
    return best[0] if best else None


def header_of(entry: CredentialEntry, fetched: Callable[[str], str] = fetch) -> tuple[str, str]:
    """The header that carries a credential (RFC 6750, RFC 7617). Raises CredentialError."""
    value = fetched(entry.value)
    if entry.scheme == "none":
        return entry.header, value
    if entry.scheme == "basic":
        from base64 import b64encode

        return entry.header, "Basic " + b64encode(f"{entry.user or ''}:{value}".encode()).decode()
    return entry.header, f"{entry.scheme.capitalize()} {value}"


def model_header(model: Model, fetched: Callable[[str], str] = fetch) -> tuple[str, str]:
    """The header with a model provider's key. Raises CredentialError."""
    key = fetched(model.key)
    name = _KEY_HEADERS.get(model.provider)
    return (name, key) if name else ("Authorization", f"Bearer {key}")


def for_read(policy: Policy, place: Place, action: Action) -> Model | CredentialEntry | None:
    """What the policy gives a free request, if anything."""
    if action.effect is Effect.MODEL:
        # A gatekeeper has them loaded; who sends an approved act would pay for them in vain.
        from netpolicy.presets import shipped

        preset = shipped().find(place.host)
        provider = preset.provider if preset is not None else None
        for model in policy.network.model:
            if _serves(model, provider, place):
                return model
    return entry_for(policy, place, use=("read",))


def secret_of(given: Model | CredentialEntry) -> str:
    """Where its value comes from: `env:NAME` or `cmd:ARGV`."""
    return given.key if isinstance(given, Model) else given.value


class Secrets:
    """What commands told, for the reads of one gatekeeper: asked beside its loop, and kept for a while."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._told: dict[str, tuple[float, str | CredentialError]] = {}
        self._one = asyncio.Lock()

    def header(self, given: Model | CredentialEntry) -> tuple[str, str]:
        """The header for a free request. Raises CredentialError."""
        if isinstance(given, Model):
            return model_header(given, self._value)
        return header_of(given, self._value)

    def awaited(self, given: Model | CredentialEntry) -> bool:
        """Whether a command has to be asked first."""
        secret = secret_of(given)
        return secret.startswith("cmd:") and self._now() >= self._told.get(secret, (0.0, ""))[0]

    async def ask(self, given: Model | CredentialEntry) -> None:
        """Ask it; that it failed is kept, too."""
        secret = secret_of(given)
        async with self._one:
            if not self.awaited(given):  # another read has asked meanwhile
                return
            try:
                told: str | CredentialError = await asyncio.to_thread(fetch, secret)
            except CredentialError as error:
                told = error
            self._told[secret] = self._now() + KEPT, told

    def _value(self, secret: str) -> str:
        if not secret.startswith("cmd:"):
            return fetch(secret)
        told = self._told[secret][1]
        if isinstance(told, CredentialError):
            raise told
        return told


def _serves(model: Model, provider: str | None, place: Place) -> bool:
    """Whether a request to a place is a call of this model: by its own host, or the provider's known ones."""
    if model.host is not None:
        return may_go(model.host, place)
    return place.scheme in ("https", "wss") and provider is not None and model.provider == provider


def known_secrets(policy: Policy) -> tuple[str, ...]:
    """Values that must never leave in what the agent sends: those of variables, which are cheap to read."""
    network = policy.network
    named = [*(m.key for m in network.model), *(c.value for c in network.credential), *policy.approval.notify]
    values = (os.environ.get(name.removeprefix("env:"), "") for name in named if name.startswith("env:"))
    return tuple(value for value in values if len(value) >= SHORTEST_SECRET)
