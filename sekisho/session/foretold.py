"""What will not work in a session, said before it starts instead of when the agent meets it. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from sekisho.core.display import one_line
from sekisho.core.policy import Network
from sekisho.core.remotes import host_of, remote_key
from sekisho.session.person import BY_PATH, CutOff


def foretold(network: Network, environ: Mapping[str, str], cut_off: Sequence[CutOff]) -> tuple[str, ...]:
    """Lines for the person. `environ` is the gatekeeper's; `cut_off` are remotes without a way."""
    return (*_unset(network, environ), *map(_no_way, cut_off))


def _unset(network: Network, environ: Mapping[str, str]) -> Iterable[str]:
    """What is given to calls as they leave; a credential of approved acts is the approver's to have."""
    local = {f"localhost:{entry.port}" for entry in network.local}  # whose calls need no key
    keys = [
        (f"[[network.model]] {model.provider}", model.key)
        for model in network.model
        if model.host not in local
    ]
    keys += [
        (f"[[network.credential]] {entry.host}", entry.value)
        for entry in network.credential
        if entry.use == "read"
    ]
    for what, secret in keys:
        kind, _, name = secret.partition(":")
        if kind == "env" and name not in environ:
            yield (
                f"{one_line(what)}: the variable {one_line(name)} is not set here, so its calls will be "
                "refused (gate broken); set it where you start sekisho"
            )


def _no_way(remote: CutOff) -> str:
    name, url = one_line(remote.name), one_line(remote.url)
    said = f"the remote {name} is reached {remote.how}, which does not leave a session: "
    said += "fetch and push will fail; "
    if remote.how == BY_PATH:
        return said + "push from here, once you have taken the session's work"
    return said + f"give it an https URL: git remote set-url {name} {_https(url)}"


def _https(url: str) -> str:
    """The usual https URL of the same repository; a port of ssh says nothing about it."""
    try:
        key = remote_key(url)
    except ValueError:
        return "https://HOST/PATH"
    path = key.partition("/")[2]
    ending = ".git" if url.rstrip("/").endswith(".git") else ""
    return f"https://{host_of(key).partition(':')[0]}/{path}{ending}"
