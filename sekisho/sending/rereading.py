"""Reads what a held act refers to, when it is held and again right before it is sent.

Only reads go out from here, to the act's own host, by the way its policy pins, with the credential that
policy has for that host. Answers are compared, never shown to the agent.
"""

import asyncio
import hashlib
import io
import json
import os
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from netpolicy.known import is_known
from netpolicy.observe import observe
from netpolicy.proxy.resolver import NotDialled
from netpolicy.request import Request
from netpolicy.world import World
from sekisho.core.action import Action, Effect
from sekisho.core.policy import Policy
from sekisho.core.remotes import host_of
from sekisho.core.verdict import Context, Verdict, judge
from sekisho.sending import credentials, movable, reaching
from sekisho.sending.artifact import Bound, HttpAct
from sekisho.sending.movable import ABSENT, Reference
from sekisho.sending.referring import media_type, pinned, refers_to
from sekisho.sending.way import ca_file
from sekisho.store.store import Store

if TYPE_CHECKING:
    from sekisho.sending import send_http

PATIENCE = 10.0  # seconds for all reads of one act: whoever waits for the answer must not hang
_KEPT = frozenset({"user-agent", "x-github-api-version"})


class CannotRead(Exception):
    """What an act refers to cannot be read now; the text says why."""


def read(store: Store, policy: Policy, act: HttpAct, references: tuple[Reference, ...]) -> tuple[Bound, ...]:
    """What the references name now. Raises CannotRead."""
    result: list[tuple[Bound, ...] | Exception] = []

    def work() -> None:
        try:
            result.append(tuple(_bound(store, policy, act, reference) for reference in references))
        except Exception as error:
            result.append(error)

    # A socket that trickles would otherwise keep the agent's call, or the person, for minutes.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not result:
        raise CannotRead(f"{act.host} did not answer within {PATIENCE:.0f} seconds")
    if isinstance(result[0], tuple):
        return result[0]
    if isinstance(result[0], CannotRead):
        raise result[0]
    raise CannotRead(f"{type(result[0]).__name__}: {result[0]}") from result[0]


def _asked(act: HttpAct, reference: Reference) -> HttpAct:
    content = reference.body
    headers = [pair for pair in act.headers if pair[0].lower() in _KEPT]
    headers += [("Accept", "application/json")]
    headers += [("Content-Type", "application/json")] if content else []
    return HttpAct(
        method="POST" if content else "GET",
        scheme=act.scheme,
        host=act.host,
        port=act.port,
        path=reference.path,
        headers=tuple(headers),
        body="" if content else None,
        size=len(content.encode()),
        transport=act.transport,
    )


def _is_free(asked: HttpAct, content: bytes, policy: Policy, world: World, context: Context) -> bool:
    """Whether the agent could send this read itself, to a host that somebody named.

    It is made of what the agent sent, before anybody approved anything.
    """
    host = ("Host", urlsplit(asked.url).netloc)
    request = Request(
        method=asked.method,
        scheme=asked.scheme,
        host=asked.host,
        port=asked.port,
        path=asked.path,
        headers=(host, *asked.headers),
        body=content,
        body_size=len(content),
    )
    seen = observe(request, world, final=True)
    assert isinstance(seen, Action)
    decision = judge(seen, policy, context)
    named = is_known(world, request) or host[1] in map(host_of, context.remotes)
    return named and decision.verdict is Verdict.ALLOW and decision.action.effect is Effect.READ


def _bound(store: Store, policy: Policy, act: HttpAct, reference: Reference) -> Bound:
    content = reference.body.encode()
    asked = _asked(act, reference)
    answer = _ask(store, policy, asked, content)
    if answer.status == 404 and not content:
        return Bound(reference=reference, values=(ABSENT,))
    if answer.status != 200 or answer.truncated:
        raise CannotRead(f"{reference.what}: {act.host} answered {answer.status}")
    try:
        found = movable.values(json.loads(answer.body), reference)
    except (ValueError, RecursionError):
        found = None
    if found is None:
        if content:
            return Bound(reference=reference, values=(ABSENT,))
        raise CannotRead(f"{reference.what}: the answer does not name it")
    return Bound(reference=reference, values=found)


def _ask(store: Store, policy: Policy, asked: HttpAct, content: bytes) -> "send_http.HttpResult":
    # Its libraries are for the few acts that refer to something.
    from sekisho.sending import send_http

    place = credentials.Place(asked.scheme, asked.host, asked.port)
    entry = credentials.entry_for(policy, place, use=("read",)) or credentials.entry_for(
        policy, place, use=("approved",)
    )
    try:
        header = () if entry is None else (credentials.header_of(entry),)
        way = asyncio.run(reaching.find(asked.host, asked.port, asked.transport.resolve, os.environ))
        tls = send_http.trust(ca_file(store, asked.transport))
        body = io.BytesIO(content) if content else None
        return send_http.send(asked, body, address=way.address, tls=tls, headers=header, via=way.proxy)
    except (NotDialled, OSError, send_http.NotSent, send_http.Uncertain) as error:
        raise CannotRead(f"{asked.host} cannot be asked: {error}") from error
    except credentials.CredentialError as error:
        raise CannotRead(str(error)) from error


def moved(store: Store, policy: Policy, act: HttpAct) -> str | None:
    """What moved since an act was held, in one sentence; None if all is as it was. Raises CannotRead."""
    references = tuple(bound.reference for bound in act.bound)
    for then, now in zip(act.bound, read(store, policy, act, references), strict=True):
        if then.values != now.values:
            return f"{then.reference.what} was {_shown(then)} and is {_shown(now)} now"
    return None


def _shown(bound: Bound) -> str:
    return " ".join(value[:12] for value in bound.values)


def bind(
    store: Store, policy: Policy, act: HttpAct, body: bytes | None, world: World, context: Context
) -> tuple[HttpAct, bytes | None, dict[str, object]]:
    """The act bound to what it refers to now, its new body if it got one, and what a person is told."""
    wanted = refers_to(act, body, world)
    if not wanted.references:
        return act, None, {}
    try:
        for reference in wanted.references:
            if not _is_free(_asked(act, reference), reference.body.encode(), policy, world, context):
                raise CannotRead(f"{reference.what}: that read is not free here")
        bound = read(store, policy, act, wanted.references)
    except CannotRead as error:
        told = f"what it refers to could not be read, so a change of it will not be noticed: {error}"
        return act, None, {"warnings": [told]}
    act = msgspec.structs.replace(act, bound=bound)
    told_of = [f"{one.reference.what}: {_shown(one)}" for one in bound]
    data = pinned(act, body, wanted, bound)
    if data is None:
        return act, None, {"refers_to": told_of}
    headers = act.headers
    if not media_type(act):
        headers = (*headers, ("Content-Type", "application/json"))
    digest = hashlib.sha256(data).hexdigest()
    act = msgspec.structs.replace(act, headers=headers, body=digest, size=len(data))
    return act, data, {"refers_to": told_of}
