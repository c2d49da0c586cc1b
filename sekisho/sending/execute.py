"""Executes an approved act, once: re-read what it refers to, consume, send, record.

Runs in the approver's process, with the approver's credentials, whether or not a gatekeeper lives.
Between `consume` and `finish` nothing may fail silently: what is neither surely sent nor surely not
sent ends as `unknown`, which closes its target until a person has looked.
"""

import asyncio
import contextlib
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from netpolicy.proxy.resolver import NotDialled
from sekisho.core.lifecycle import State
from sekisho.core.policy import BUILTIN, Policy
from sekisho.sending import artifact, credentials, reaching, send_push
from sekisho.sending.artifact import CommandAct, HttpAct, PushAct, Transport
from sekisho.sending.heldunder import policy_of
from sekisho.store.errors import LedgerError, StoreBroken, Trouble, Void
from sekisho.store.holds import Hold
from sekisho.store.store import Store

# What only one kind of act needs is imported where that one is sent: whoever approves waits for it.
if TYPE_CHECKING:
    from sekisho.sending import send_http

TAKEN_WITHIN = 10.0  # seconds in which a call that waits takes its approval


class NotExecuted(Exception):
    """The act was not begun; nothing was sent. The approval is still there unless `void`."""

    def __init__(self, reason: str, *, void: bool = False) -> None:
        super().__init__(reason)
        self.void = void


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an execution ended: the hold as it is now, and one line for the person."""

    hold: Hold
    summary: str


def execute(store: Store, hold_id: str, *, interactive: bool = False) -> Outcome:
    """Send exactly what was approved.

    Raises NotExecuted, LedgerError or StoreBroken; then nothing was sent.
    """
    hold = store.ledger.get(hold_id)
    try:
        act = artifact.decode(hold.artifact)
    except msgspec.ValidationError as error:
        raise NotExecuted(f"what was held cannot be read by this version: {error}") from error
    try:
        if isinstance(act, CommandAct):
            return Outcome(hold=hold, summary="the session may run it once, before the approval expires")
        if isinstance(act, HttpAct) and act.live:
            return _carried(store, hold.id)
        if isinstance(act, PushAct):
            return _push(store, hold, act, interactive)
        return _http(store, hold, act)
    except NotExecuted as refused:
        if refused.void:
            store.ledger.void(hold.id, str(refused))
        raise


def _dial(host: str, port: int, transport: Transport, policy: Policy) -> reaching.Way:
    """One look-up, judged; that address is dialled and no other."""
    local = {entry.port for entry in policy.network.local}
    try:
        return asyncio.run(reaching.find(host, port, transport.resolve, os.environ, local))
    except NotDialled as refused:
        raise NotExecuted(refused.why) from refused
    except OSError as error:
        raise NotExecuted(f"{host} could not be looked up: {error}") from error


def _ca_file(store: Store, transport: Transport) -> str | None:
    if transport.ca is None:
        return None
    with store.blobs.open(transport.ca):  # raises StoreBroken when it is not what it was
        return str(store.blobs.path(transport.ca))


def _carried(store: Store, hold_id: str) -> Outcome:
    """What only its own call can send: see whether that call takes the approval, and how it ends."""
    deadline = time.monotonic() + TAKEN_WITHIN
    while True:
        hold = store.ledger.get(hold_id)
        if hold.state is State.APPROVED and time.monotonic() > deadline:
            with contextlib.suppress(LedgerError):  # taken in this very moment
                store.ledger.void(hold_id, "its call has ended, and only that call could send it")
        elif hold.state is State.EXECUTING:
            store.ledger.crashed()
        elif hold.state is not State.APPROVED:
            said = hold.reason or str((hold.result or {}).get("summary", "its call was cut off"))
            return Outcome(hold=hold, summary=said)
        time.sleep(0.2)


# -- requests --------------------------------------------------------------------------------------


def _http(store: Store, hold: Hold, act: HttpAct) -> Outcome:
    from sekisho.sending import send_http

    policy = policy_of(store, hold) or BUILTIN
    way = _dial(act.host, act.port, act.transport, policy)
    tls = send_http.trust(_ca_file(store, act.transport))
    headers = _approved_headers(policy, act)
    _check_references(store, policy, act)
    body = _body(store, act)
    try:
        store.ledger.consume(hold.id, None, artifact.digest(act))
        try:
            result = send_http.send(
                act, body, address=way.address, tls=tls, headers=headers, via=way.proxy, name=way.name
            )
        except send_http.NotSent as error:
            return _finish(store, hold, State.FAILED, f"not sent: {error}", {"error": str(error)})
        except send_http.Uncertain as error:
            return _finish(store, hold, State.UNKNOWN, str(error), {"error": str(error)})
        except BaseException as error:
            _finish(store, hold, State.UNKNOWN, str(error), {"error": repr(error)})
            raise
    finally:
        if body is not None:
            body.close()
    return _answered(store, hold, result)


def _check_references(store: Store, policy: Policy, act: HttpAct) -> None:
    """What the act refers to must be what it was when it was held."""
    if not act.bound:
        return
    from sekisho.sending import rereading

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


def _answered(store: Store, hold: Hold, result: "send_http.HttpResult") -> Outcome:
    stored = store.blobs.put_bytes(result.body)
    data = {
        "status": result.status,
        "reason": result.reason,
        "headers": [list(pair) for pair in result.headers],
        "body": stored.sha256,
        "truncated": result.truncated,
    }
    # A 4xx was refused; after a 5xx nobody can say whether the act took effect.
    state = State.DONE if result.status < 400 else State.FAILED if result.status < 500 else State.UNKNOWN
    return _finish(store, hold, state, f"the upstream answered {result.status} {result.reason}", data)


def _approved_headers(policy: Policy, act: HttpAct) -> tuple[tuple[str, str], ...]:
    place = credentials.Place(act.scheme, act.host, act.port)
    entry = credentials.entry_for(policy, place, use=("approved", "read"))
    if not entry:
        return ()
    try:
        return (credentials.header_of(entry),)
    except credentials.CredentialError as error:
        raise NotExecuted(f"the credential for {act.host} cannot be had: {error}") from error


# -- pushes ----------------------------------------------------------------------------------------


def remote_now(
    store: Store, act: PushAct, project: str, policy: Policy, *, only: bool = False
) -> dict[str, str]:
    """The remote's refs, read with the person's login; with `only` just those of the act.

    Raises NotExecuted where they cannot be read.
    """
    reach = _reach(store, act, project, policy, interactive=False)
    try:
        return send_push.remote_refs(act, Path(project), reach, only=only)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotExecuted(f"the remote cannot be read: {error}") from error


def _push(store: Store, hold: Hold, act: PushAct, interactive: bool) -> Outcome:
    from sekisho.sending.outgoing import Tampered, outgoing

    if not Path(act.repository, "objects").is_dir():
        raise NotExecuted("the held commits are no longer on this machine")
    policy = policy_of(store, hold) or BUILTIN
    if (why := send_push.moved(act, remote_now(store, act, hold.project, policy, only=True))) is not None:
        raise NotExecuted(f"the remote moved: {why}", void=True)
    reach = _reach(store, act, hold.project, policy, interactive=interactive)
    try:
        with outgoing(act) as repository:
            store.ledger.consume(hold.id, None, artifact.digest(act))
            return _send_push(store, hold, act, repository, reach)
    except Tampered as fault:
        raise NotExecuted(f"the held commits have changed: {fault}", void=True) from fault


def _send_push(store: Store, hold: Hold, act: PushAct, repository: Path, reach: send_push.Reach) -> Outcome:
    try:
        result = send_push.push(act, repository, reach)
    except subprocess.TimeoutExpired:
        said = f"git was cut off after {send_push.TIMEOUT:.0f} seconds"
        return _finish(store, hold, State.UNKNOWN, said, {"error": said})
    except BaseException as error:
        _finish(store, hold, State.UNKNOWN, repr(error), {"error": repr(error)})
        raise
    return _pushed(store, hold, act, result)


def _pushed(store: Store, hold: Hold, act: PushAct, result: send_push.PushResult) -> Outcome:
    data = {"status": result.status, "refs": result.refs, "output": result.output[-4000:]}
    if result.status == 0:
        refs = ", ".join(update.ref for update in act.updates)
        return _finish(store, hold, State.DONE, f"pushed {refs} to {act.remote}", data)
    # git reports each ref that the remote refused; without a report the push may have arrived.
    refused = bool(result.refs) and all(said.startswith("!") for said in result.refs.values())
    state = State.FAILED if refused or _never_connected(result.output) else State.UNKNOWN
    return _finish(
        store, hold, state, result.output.strip()[-400:] or f"git ended with {result.status}", data
    )


def _never_connected(output: str) -> bool:
    """git's own words for failing before anything was sent (remote-curl.c, transport.c)."""
    return any(
        words in output
        for words in ("unable to access", "Authentication failed", "could not read Username", "not found")
    )


def _reach(store: Store, act: PushAct, project: str, policy: Policy, *, interactive: bool) -> send_push.Reach:
    scheme, host, port = artifact.push_host(act)
    web = scheme in ("http", "https")
    way = _dial(host, port, act.transport, policy) if web else None
    return send_push.Reach(
        # Behind a corporate proxy git asks that one, which it finds where we do.
        address=way.address if way and way.proxy is None else None,
        direct=host in act.transport.resolve or (way is not None and way.own),
        ca_file=_ca_file(store, act.transport),
        project=project,
        interactive=interactive,
    )


def _finish(store: Store, hold: Hold, state: State, summary: str, data: dict[str, object]) -> Outcome:
    return Outcome(hold=store.ledger.finish(hold.id, state, {**data, "summary": summary}), summary=summary)


__all__ = ["LedgerError", "NotExecuted", "Outcome", "StoreBroken", "Void", "execute"]
