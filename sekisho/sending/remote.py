"""A push's remote as the person reaches it, and the refs that it has now."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from sekisho.core.policy import Policy
from sekisho.sending import artifact, send_push
from sekisho.sending.artifact import PushAct
from sekisho.sending.outcome import NotExecuted
from sekisho.sending.way import ca_file, dial
from sekisho.store.store import Store

if TYPE_CHECKING:
    pass


def remote_now(
    store: Store, act: PushAct, project: str, policy: Policy, *, only: bool = False
) -> dict[str, str]:
    """The remote's refs, read with the person's login; with `only` just those of the act.

    Raises NotExecuted where they cannot be read.
    """
    reach = reach_of(store, act, project, policy, interactive=False)
    try:
        return send_push.remote_refs(act, Path(project), reach, only=only)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotExecuted(f"the remote cannot be read: {error}") from error


def reach_of(
    store: Store, act: PushAct, project: str, policy: Policy, *, interactive: bool
) -> send_push.Reach:
    """By which way and with whose trust the remote is reached. Raises NotExecuted."""
    scheme, host, port = artifact.push_host(act)
    web = scheme in ("http", "https")
    way = dial(host, port, act.transport, policy) if web else None
    return send_push.Reach(
        # Behind a corporate proxy git asks that one, which it finds where we do.
        address=way.address if way and way.proxy is None else None,
        direct=host in act.transport.resolve or (way is not None and way.own),
        ca_file=ca_file(store, act.transport),
        project=project,
        interactive=interactive,
    )
