"""The effect of a request to a place where requests may go: policy, service, shape, method. Pure."""

from collections.abc import Iterable, Iterator

import msgspec

from netpolicy import acting, methods, opaque, override
from netpolicy.call import BODYLESS, Call, Finding, dropped, unknown
from netpolicy.canonical import PathForm
from netpolicy.content import Unreadable
from netpolicy.kinds import BODY_WITH_GET, JUDGES, git
from netpolicy.kinds.model import MODEL_API
from netpolicy.lookalike import INTERNATIONAL, imitates, mixes_scripts
from netpolicy.presets import Preset, shipped
from netpolicy.world import PROVIDER, World
from sekisho.core.action import SEVERITY, Effect
from sekisho.core.classify import BODY_JUDGED
from sekisho.core.rules import network_rules

_PASSING = (Effect.READ, Effect.MODEL)


def worst(findings: Iterable[Finding]) -> Finding:
    """The most severe; of equals the one that says most about the act, else the first."""
    return max(findings, key=lambda finding: (SEVERITY[finding.effect], bool(finding.detail)))


def preset_of(host: str) -> Preset | None:
    """The shipped preset of a canonical host."""
    return shipped().find(host)


def judge(call: Call, form: PathForm, world: World) -> Finding:
    """The most severe of all readings of a call."""
    plain, *others = _readings(call, form, world)
    finding = worst([plain, *others]) if others else plain
    if finding is not plain and SEVERITY[finding.effect] > SEVERITY[plain.effect]:
        return msgspec.structs.replace(finding, by_url=False)
    if INTERNATIONAL in call.host and finding.effect in _PASSING:
        return _disguised(call.host) or finding
    return finding


def _disguised(host: str) -> Finding | None:
    if known := imitates(host, shipped().exact):
        return unknown(f"{host} looks like {known}", code="host-disguised")
    return unknown(f"{host} mixes scripts in a name", code="host-disguised") if mixes_scripts(host) else None


def _readings(call: Call, form: PathForm, world: World) -> Iterator[Finding]:
    yield _by_policy_or_service(call, world)
    for path in form.others:
        yield _by_policy_or_service(call.at(path), world)
    for method in override.other_methods(call):
        yield _by_policy_or_service(call.by(method), world)
    if found := override.rewritten(call):
        yield found
    bodied = call.method in BODYLESS and call.has_body
    if bodied and world.profile(call.host, call.request.port) not in BODY_WITH_GET:
        # A server that looks for no body takes it for the next request, whatever a rule says of this one.
        yield unknown(f"a {call.method} with a body", code="get-body")
    upgrade = call.header("upgrade").strip().lower()
    if upgrade and not (upgrade == "websocket" and _names_channel(call, world)):
        yield _upgrade(call, upgrade, world)


def ruled(call: Call, world: World) -> Finding | None:
    """What policy's rules say: the most specific one, of equals the strictest."""
    rules = network_rules(world.policy, call.method, call.host, call.request.port, call.path).deciding
    if not rules:
        return None
    rule = max(rules, key=lambda entry: SEVERITY[Effect(entry.effect)])
    return Finding(
        effect=Effect(rule.effect),
        reason=f"policy calls it {rule.effect}",
        code="forbidden-by-rule" if rule.effect == "forbidden" else "",
        rule=f"{rule.method} {rule.host}{rule.path}",
        source=rule.source,
        sensitive=rule.sensitive,
        reversible=rule.reversible,
        checkable=rule.checkable,
    )


def _names_channel(call: Call, world: World) -> bool:
    """Whether a rule names the very path. One for many paths speaks of requests, not of what follows them:
    over a WebSocket anything is written, whatever its opening request is called.
    """
    rules = network_rules(world.policy, call.method, call.host, call.request.port, call.path).deciding
    return bool(rules) and all("*" not in rule.path for rule in rules)


def _by_policy_or_service(call: Call, world: World) -> Finding:
    rule = ruled(call, world)
    try:
        found = _by_service(call, world)
    except Unreadable as error:
        found = unknown(str(error), code="body-unreadable")
    if rule is None:
        return found
    # What the body says is more than a rule about the URL can know: there it only tightens.
    by_body = (found.verb or "").partition(".")[0] in BODY_JUDGED or found.effect is Effect.MODEL
    return worst([found, rule]) if by_body else rule


def _by_service(call: Call, world: World) -> Finding:
    kind = world.profile(call.host, call.request.port)
    return _declared(call, kind, world) or _undeclared(call)


def _declared(call: Call, kind: str | None, world: World) -> Finding | None:
    """What a declared service, by policy or by a preset, says."""
    if kind is not None and kind.startswith(PROVIDER):
        return _provider(call, kind.removeprefix(PROVIDER), world) or _plain(call)
    if kind is not None and kind in JUDGES:
        return JUDGES[kind](call) or _plain(call)
    preset = shipped().by_name.get(kind) if kind else None
    if preset is not None:
        return preset.judge(call, world.providers) or _plain(call)
    preset = preset_of(call.host)
    if preset is None:
        return None
    if call.secure:
        return preset.judge(call, world.providers) or _plain(call)
    return preset.held(call)


def _provider(call: Call, name: str, world: World) -> Finding | None:
    """A host that policy names for a model provider, known or not."""
    known = shipped().by_provider.get(name)
    if known is not None and (found := known.judge(call, world.providers)) and found.effect is Effect.MODEL:
        return found
    return MODEL_API.judge(call)


def _plain(call: Call) -> Finding | None:
    """Reads of a declared service that none of its own rules names."""
    return (acting.fetches_inner(call) or methods.judge(call)) if call.method != "POST" else None


def _undeclared(call: Call) -> Finding:
    by_protocol = git.judge_anywhere(call)
    if by_protocol is not None:
        # Anything can be made to look like a fetch: its address and headers are no freer than a read's.
        data = opaque.carries_data(call) if by_protocol.effect is Effect.READ else None
        return by_protocol if data is None else data
    if call.host.startswith("telemetry.") and call.method == "POST":
        return dropped()
    shape = acting.judge(call) or opaque.carries_data(call)
    found = methods.judge(call)
    return worst([shape, found]) if shape is not None else found


def _upgrade(call: Call, upgrade: str, world: World) -> Finding:
    """A connection that becomes something else is seen no more: only a provider's own channel passes."""
    preset = preset_of(call.host)
    if upgrade == "websocket" and preset is not None and call.secure and preset.socket(call, world.providers):
        return Finding(effect=Effect.MODEL, code="model-socket", reason="the provider's own channel")
    return unknown(f"upgrades to {upgrade[:40]}", code="no-wire")
