"""The way to an act's host: the address that is dialled, and the authority that is trusted there."""

import asyncio
import os
from typing import TYPE_CHECKING

from netpolicy.proxy.resolver import NotDialled
from sekisho.core.policy import Policy
from sekisho.sending import reaching
from sekisho.sending.artifact import Transport
from sekisho.sending.outcome import NotExecuted
from sekisho.store.store import Store

if TYPE_CHECKING:
    pass


def dial(host: str, port: int, transport: Transport, policy: Policy) -> reaching.Way:
    """One look-up, judged; that address is dialled and no other. Raises NotExecuted."""
    local = {entry.port for entry in policy.network.local}
    try:
        return asyncio.run(reaching.find(host, port, transport.resolve, os.environ, local))
    except NotDialled as refused:
        raise NotExecuted(refused.why) from refused
    except OSError as error:
        raise NotExecuted(f"{host} could not be looked up: {error}") from error


def ca_file(store: Store, transport: Transport) -> str | None:
    """The authorities that the act's policy pins, if it does. Raises StoreBroken."""
    if transport.ca is None:
        return None
    with store.blobs.open(transport.ca):  # raises StoreBroken when it is not what it was
        return str(store.blobs.path(transport.ca))
