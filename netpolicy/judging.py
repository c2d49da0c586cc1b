"""The effect of a request to a place where requests may go: policy, service, shape, method. Pure."""

from collections.abc import Iterable, Iterator

from netpolicy import acting, methods, opaque, override
from netpolicy.call import BODYLESS, Call, Finding, dropped, unknown
from netpolicy.canonical import PathForm
from netpolicy.content import Unreadable
from netpolicy.kinds import BODY_WITH_GET, JUDGES, git
from netpolicy.lookalike import imitates
from netpolicy.presets import Preset, shipped
from netpolicy.world import World
from sekisho.core.action import SEVERITY, Effect
from sekisho.core.patterns import host_matches, most_specific, path_matches, specificity
from sekisho.core.policy import NetworkRule

_PASSING = (Effect.READ, Effect.MODEL)


def worst(findings: Iterable[Finding]) -> Finding:
    """The most severe; of equals the one that says most about the act, else the first."""
    return max(findings, key=lambda finding: (SEVERITY[finding.effect], bool(finding.detail)))


def preset_of(host: str) -> Preset | None:
    """The shipped preset of a canonical host."""
    return shipped().find(host)


def judge(call: Call, form: PathForm, world: World) -> Finding:
    """The most severe of all readings of a call."""
    finding = worst(_readings(call, form, world))
    if finding.effect in _PASSING and (limit := _limited(call, world)):
        return limit
    return finding


def _readings(call: Call, form: PathForm, world: World) -> Iterator[Finding]:
    yield _by_policy_or_service(call, world)
    for path in form.others:
        yield _by_policy_or_service(call.at(path), world)
    for method in override.other_methods(call):
        yield _by_policy_or_service(call.by(method), world)
    if found := override.rewritten(call):
        yield found
    upgrade = call.header("upgrade").strip().lower()
    if upgrade and not (upgrade == "websocket" and ruled(call, world)):
        yield _upgrade(call, upgrade, world)


def _rule_rank(rule: NetworkRule) -> tuple[object, ...]:
    return (*specificity(rule.host), *specificity(rule.path), int(rule.method != "*"))


def _matches(rule: NetworkRule, call: Call) -> bool:
    return (
        rule.method.upper() in ("*", call.method)
        and host_matches(rule.host, call.host, call.request.port)
        and path_matches(rule.path, call.path)
    )


def ruled(call: Call, world: World) -> Finding | None:
    """What policy's rules say: the most specific one, of equals the strictest."""
    matching = [rule for rule in world.rules if _matches(rule, call)]
    best = most_specific(matching, _rule_rank)
    if not best:
        return None
    rule = max(best, key=lambda entry: SEVERITY[Effect(entry.effect)])
    return Finding(
        effect=Effect(rule.effect),
        reason=f"policy calls it {rule.effect}",
        code=f"policy-{rule.effect}",
        rule=f"{rule.method} {rule.host}{rule.path}",
        source=rule.source,
        sensitive=rule.sensitive,
        reversible=rule.reversible,
        checkable=rule.checkable,
    )


def _by_policy_or_service(call: Call, world: World) -> Finding:
    try:
        return ruled(call, world) or _by_service(call, world)
    except Unreadable as error:
        return unknown(str(error), code="body-unreadable")


def _by_service(call: Call, world: World) -> Finding:
    kind = world.profile(call.host, call.request.port)
    found = _declared(call, kind, world) or _undeclared(call, kind)
    if call.method in BODYLESS and call.has_body and kind not in BODY_WITH_GET:
        return worst([found, unknown(f"a {call.method} with a body", code="get-body")])
    return found


def _declared(call: Call, kind: str | None, world: World) -> Finding | None:
    """What a declared service, by policy or by a preset, says."""
    preset = shipped().by_name.get(kind) if kind else None
    if kind in JUDGES:
        return JUDGES[kind](call) or _plain(call)
    if preset is not None:
        return preset.judge(call, world.providers) or _plain(call)
    preset = preset_of(call.host)
    if preset is None:
        return None
    if call.secure:
        return preset.judge(call, world.providers) or _plain(call)
    return preset.held(call)


def _plain(call: Call) -> Finding | None:
    """Reads of a declared service that none of its own rules names."""
    return (acting.fetches_inner(call) or methods.judge(call)) if call.method != "POST" else None


def _undeclared(call: Call, kind: str | None) -> Finding:
    by_protocol = git.judge_anywhere(call)
    if by_protocol is not None:
        return by_protocol
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
    return unknown(f"upgrades to {upgrade[:40]}", code="upgrade")


def _limited(call: Call, world: World) -> Finding | None:
    """Why a passing request does not pass after all: policy's default, or a name that imitates."""
    if known := imitates(call.host, shipped().exact):
        return unknown(f"{call.host} looks like {known}", code="host-imitates")
    if world.default == "read" or world.is_listed(call.host, call.request.port):
        return None
    preset = preset_of(call.host)
    if preset is not None and preset.provider is not None and preset.configured(world.providers):
        return None
    return unknown(f"{call.host} is not among the listed hosts", code="host-unlisted")
