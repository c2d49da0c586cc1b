"""A request -> the act it is: the one entry to all that judges requests. Pure.

First what is never done (names that disagree, shapes that smuggle, addresses that are not public,
planted secrets), then policy's rules, the sandbox itself, the kind of service, and last what the
method alone tells. Several readings of one request (other spellings of its path, other methods it
asks for) count by the most severe.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from netpolicy import headers, judging, tunnel
from netpolicy.address import OWN_MACHINE, is_loopback_host
from netpolicy.agreement import agreed_host, malformed
from netpolicy.answers import SECRET_PARAMETERS, answers
from netpolicy.call import BodyNeeded, Call, Finding, forbidden, unknown
from netpolicy.canonical import HostError, PathForm, canonical_path, split_target
from netpolicy.content import MAX_DECODED, Unreadable
from netpolicy.destination import refused
from netpolicy.headers import Headers
from netpolicy.judging import worst
from netpolicy.planted import PRIVATE_KEY, finder
from netpolicy.presets import Preset
from netpolicy.query import Query
from netpolicy.request import Request
from netpolicy.world import World
from sekisho.core.action import Action, Effect, RuleMatch

_LOCAL = Finding(effect=Effect.LOCAL, code="loopback", reason="stays inside the sandbox", verb="http.local")


class NeedBody(msgspec.Struct, frozen=True):
    """The class depends on the body; at most `limit` bytes of it are looked at."""

    limit: int


def observe(request: Request, world: World, *, final: bool = False) -> Action | NeedBody:
    """The act that `request` is, or `NeedBody` while its body has not been read.

    A body shorter than `body_size` is taken for its beginning: what needs more of it is unknown.
    `final` says that no more will come; then the answer is always an Action.
    """
    given = headers.of(request.headers)
    fault = malformed(request, given)
    try:
        host = agreed_host(request, given)
    except HostError as error:
        host, fault = request.host, fault or forbidden(str(error), code=error.code)
    raw_path, raw_query = split_target(request.path)
    form = canonical_path(raw_path)
    if request.local and is_loopback_host(host):
        host = OWN_MACHINE
    call = Call(request, host=host, path=form.path, query=Query(raw_query), final=final, given=given)
    if fault is None and not request.local:
        fault = refused(request.host, host, world)
    try:
        return _action(call, fault or _found(call, form, world), world)
    except BodyNeeded as needed:
        return NeedBody(needed.limit)


def _found(call: Call, form: PathForm, world: World) -> Finding:
    if is_loopback_host(call.request.host) and not call.request.local:
        return _LOCAL
    leaked = _planted(_texts(call), world.secrets) or _planted_in(call.headers, world.secrets)
    if leaked is not None:
        return leaked
    if call.method == "CONNECT":
        return tunnel.judge(call, world)
    finding = judging.judge(call, form, world)
    return _with_body(call, finding, world)


def _with_body(call: Call, finding: Finding, world: World) -> Finding:
    """Looks for planted secrets in a body, which a read must show before it passes."""
    if finding.effect is Effect.MODEL or not call.has_body or finding.code == "telemetry-dropped":
        return finding
    if finding.effect is not Effect.READ and call.request.body is None:
        return finding
    try:
        body = call.body if finding.effect is Effect.READ else call.head(MAX_DECODED)
    except Unreadable as error:
        doubt = unknown(str(error), code="body-unreadable", by_url=False)
        return worst([finding, doubt]) if finding.effect is Effect.READ else finding
    return _planted([body.decode("latin-1")], world.secrets) or finding


def _texts(call: Call) -> list[str]:
    """Every text of an address that could leave something; split texts are also joined."""
    values = "".join([value for _, value in call.query]) if len(call.query.pairs) > 1 else ""
    labels = call.host.replace(".", "") if len(call.host) > 24 else ""
    path = call.request.path
    slashless = path.replace("/", "") if len(path) > 40 and "/" in path[1:] else ""
    return [f"{path}\n{call.host}\n{labels}\n{values}\n{slashless}"]


@lru_cache(maxsize=headers.REMEMBERED)
def _planted_in(given: Headers, secrets: tuple[str, ...]) -> Finding | None:
    return _planted([given.text], secrets)


def _planted(texts: Iterable[str], planted: tuple[str, ...]) -> Finding | None:
    secrets = finder(planted)
    for text in texts:
        if "PRIVATE KEY" in text and PRIVATE_KEY.search(text):
            return forbidden("a private key would leave", code="planted-secret")
        if secrets.leaks(text):
            return forbidden(
                "a secret would leave: a key of the person's, or a planted value", code="planted-secret"
            )
    return None


def _target(call: Call) -> str:
    """The canonical URL; values of parameters that carry secrets are left out."""
    request = call.request
    host = f"[{call.host}]" if ":" in call.host else call.host
    port = "" if request.port == {"http": 80, "https": 443}.get(request.scheme) else f":{request.port}"
    if call.method == "CONNECT":
        return f"{host}:{request.port}"
    query = "&".join(
        [
            f"{key}={'…' if key.lower() in SECRET_PARAMETERS else value}" if value else key
            for key, value in call.query.pairs
        ]
    )
    return f"{request.scheme}://{host}{port}{call.path}{'?' if query else ''}{query}"


def _detail(call: Call, finding: Finding, world: World, preset: Preset | None) -> dict[str, Any]:
    """What policy's own rules need to know of the request.

    A finding that is not about the URL says nothing of it: a rule about the URL could otherwise
    open what was held for another reason.
    """
    if finding.effect is Effect.LOCAL or call.method == "CONNECT" or not finding.by_url:
        return finding.detail
    request = {"method": call.method, "host": call.host, "port": call.request.port, "path": call.path}
    listed = preset is not None and preset.provider is not None and preset.configured(world.providers)
    return {**finding.detail, "request": request, "listed": listed}


def _action(call: Call, finding: Finding, world: World) -> Action:
    preset = judging.preset_of(call.host)
    stakes = preset.stakes if preset is not None else None
    rule = finding.rule or finding.reason
    return Action(
        verb=finding.verb or f"http.{call.method.lower()}",
        target=finding.target or _target(call),
        effect=finding.effect,
        reason=finding.reason,
        code=finding.code,
        answers=answers(call, finding, world, stakes),
        detail=_detail(call, finding, world, preset),
        sensitive=finding.sensitive,
        rules=(RuleMatch(source=finding.source, rule=rule, says=finding.effect.value),),
    )
