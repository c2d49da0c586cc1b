"""What a gatekeeper is told at its start, as one JSON message beside its sockets."""

import msgspec

WORKSPACE = "workspace.json"  # in the session's folder: `sandbox.workspace.dump`
AGENT_SOCKET = "agent.sock"  # in the session's runtime folder
READY = b"ready"  # from the gatekeeper: it serves
STOP = b"stop"  # from the launcher: the session is being ended; an end without it is the launcher's death


def group_name(session: str) -> str:
    """The control group that holds a session to its limits."""
    return f"sekisho-{session}"


class SessionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One session as its gatekeeper needs to know it. All paths are absolute and outside the sandbox.

    `policy_file` holds the merged policy as JSON, pinned at the start; `policy_digest` names it in the
    journal. `authority` is the folder of the certificate authority, `roots` a PEM file of roots that
    upstreams are checked against, `ca` the PEM file that the policy adds. `remotes` are the URLs of the
    person's repository; `wait` is how long a held call stays open for a live answer, in seconds.
    With `in_place` the command works in the person's own tree, which `clone` then is.
    `profiles` are hosts of the person's package indexes (see `registries`).
    """

    session: str
    project: str
    folder: str
    clone: str
    policy_file: str
    policy_digest: str
    authority: str
    roots: str
    remotes: tuple[str, ...] = ()
    wait: float = 0.0
    in_place: bool = False
    profiles: dict[str, str] = {}


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """The launcher's first message; the sockets named here come along as descriptors, in this order."""

    config: SessionConfig
    sockets: tuple[str, ...]
    restarted: int = 0


encode = msgspec.json.encode


def decode_hello(data: bytes) -> Hello:
    """Raises msgspec.DecodeError or msgspec.ValidationError on anything that is not a `Hello`."""
    return msgspec.json.decode(data, type=Hello)
