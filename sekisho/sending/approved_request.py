"""Sends an approved request, with the credential that policy has for it."""

from typing import BinaryIO

from sekisho.core.lifecycle import State
from sekisho.core.policy import BUILTIN, Policy
from sekisho.sending import artifact, credentials, send_http
from sekisho.sending.artifact import HttpAct
from sekisho.sending.heldunder import policy_of
from sekisho.sending.outcome import NotExecuted, Outcome, finish
from sekisho.sending.way import ca_file, dial
from sekisho.store.errors import StoreBroken, Trouble
from sekisho.store.holds import Hold
from sekisho.store.store import Store


def send(store: Store, hold: Hold, act: HttpAct) -> Outcome:
    """Look again, connect, consume, send, record. Raises as `execute.execute` does.

    The connection comes first: while it cannot be made, the approval is not used up.
    """
    policy = policy_of(store, hold) or BUILTIN
    way = dial(act.host, act.port, act.transport, policy)
    tls = send_http.trust(ca_file(store, act.transport))
    headers = _approved_headers(policy, act)
    _check_references(store, policy, act)
    body = _body(store, act)
    begun = False

    def begin() -> None:
        nonlocal begun
        store.ledger.consume(hold.id, None, artifact.digest(act))
        begun = True

    try:
        result = send_http.send(
            act,
            body,
            address=way.address,
            tls=tls,
            headers=headers,
            via=way.proxy,
            name=way.name,
            begin=begin,
        )
    except send_http.NotSent as error:
        raise NotExecuted(str(error)) from error
    except send_http.Uncertain as error:
        return finish(store, hold, State.UNKNOWN, str(error), {"error": str(error)})
    except BaseException as error:
        if begun:
            finish(store, hold, State.UNKNOWN, str(error), {"error": repr(error)})
        raise
    finally:
        if body is not None:
            body.close()
    return _answered(store, hold, result)


def _check_references(store: Store, policy: Policy, act: HttpAct) -> None:
    """What the act refers to must be what it was when it was held."""
    if not act.bound:
        return
    from sekisho.sending import rereading  # for the few acts that refer to something

    try:
        why = rereading.moved(store, policy, act)
    except rereading.CannotRead as error:
        raise NotExecuted(f"what it refers to cannot be read again: {error}") from error
    if why is not None:
        raise NotExecuted(f"what it refers to moved: {why}", void=True)


def _body(store: Store, act: HttpAct) -> BinaryIO | None:
    """The held body, checked against its digest."""
    if act.body is None:
        return None
    try:
        return store.blobs.open(act.body)
    except StoreBroken as broken:
        raise NotExecuted(
            f"the held body is not there as it was held: {broken.reason}",
            void=broken.trouble is Trouble.CORRUPT,
        ) from broken


def _answered(store: Store, hold: Hold, result: send_http.HttpResult) -> Outcome:
    stored = _stored(store, result.body)
    data = {
        "status": result.status,
        "reason": result.reason,
        "headers": [list(pair) for pair in result.headers],
        "body": stored,
        "truncated": result.truncated,
    }
    # A 4xx was refused; after a 5xx nobody can say whether the act took effect.
    state = State.DONE if result.status < 400 else State.FAILED if result.status < 500 else State.UNKNOWN
    said = f"the upstream answered {result.status} {result.reason}"
    return finish(store, hold, state, said if stored else f"{said}; its body could not be stored", data)


def _stored(store: Store, body: bytes) -> str | None:
    """The digest of the stored body. None where it cannot be: how the act ended is recorded all the same."""
    try:
        return store.blobs.put_bytes(body).sha256
    except StoreBroken:
        return None


def _approved_headers(policy: Policy, act: HttpAct) -> tuple[tuple[str, str], ...]:
    place = credentials.Place(act.scheme, act.host, act.port)
    entry = credentials.entry_for(policy, place, use=("approved", "read"))
    if not entry:
        return ()
    try:
        return (credentials.header_of(entry),)
    except credentials.CredentialError as error:
        raise NotExecuted(f"the credential for {act.host} cannot be had: {error}") from error
