"""What a read is given on its way: the person's own git login, or what the policy has for that place.

Git's helpers and `cmd:` secrets may take long, so they are asked beside the loop; then the read waits.
"""

from urllib.parse import SplitResult, urlsplit

from netpolicy.canonical import is_plain
from netpolicy.request import Request
from sekisho.broker.state import SessionState, is_own
from sekisho.core.action import Action, Effect
from sekisho.core.policy import CredentialEntry, Model
from sekisho.sending import credentials

Headers = tuple[tuple[str, str], ...]
FETCHES = ("git.fetch", "git.advertise")


def must_ask(state: SessionState, request: Request, action: Action) -> bool:
    """Whether a read still waits for what the person's helpers or commands tell."""
    if _remote(state, request, action) is not None and _known_login(state, request, action) is None:
        return True
    entry = _entry(state, request, action)
    return entry is not None and state.secrets.awaited(entry)


async def ask(state: SessionState, request: Request, action: Action) -> None:
    """Ask for it."""
    if not must_ask(state, request, action):
        return
    entry = _entry(state, request, action)
    if entry is not None and state.secrets.awaited(entry):
        await state.secrets.ask(entry)
    if (remote := _remote(state, request, action)) is not None:
        await state.logins.ask(remote.scheme, _login_host(request, remote))


def headers(state: SessionState, request: Request, action: Action) -> Headers:
    """What the policy gives, else the login. Raises CredentialError."""
    entry = _entry(state, request, action)
    return login(state, request, action) if entry is None else (state.secrets.header(entry),)


def login(state: SessionState, request: Request, action: Action) -> Headers:
    """The person's git login, for a remote of their repository."""
    return _known_login(state, request, action) or ()


def _known_login(state: SessionState, request: Request, action: Action) -> Headers | None:
    remote = _remote(state, request, action)
    return () if remote is None else state.logins.known(remote.scheme, _login_host(request, remote))


def _remote(state: SessionState, request: Request, action: Action) -> SplitResult | None:
    """The URL of a fetch from a remote that the person's repository has."""
    if action.effect is not Effect.READ or action.verb not in FETCHES or not is_plain(request.path):
        return None
    remote = urlsplit(action.target)
    return remote if remote.scheme in ("http", "https") and is_own(state, action.target) else None


def _entry(state: SessionState, request: Request, action: Action) -> Model | CredentialEntry | None:
    """What the policy gives a read."""
    network = state.policy.network
    if not (network.credential or network.model):
        return None
    place = credentials.Place(request.scheme, request.host, request.port)
    return credentials.for_read(state.policy, place, action)


def _login_host(request: Request, remote: SplitResult) -> str:
    """The host, with its port unless that is the usual one, by which git's helpers know a remote."""
    # A port of the person's own machine has several names; theirs is the one that the remote has inside, too.
    return (request.local and request.header("host")) or remote.netloc
