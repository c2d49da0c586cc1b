"""Verdicts: guards, lists and layers together."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.action import Action, Answers, Credential, Effect, Reach, Stakes
from sekisho.core.gate import STRICTNESS, Gate
from sekisho.core.load import parse
from sekisho.core.merge import merge
from sekisho.core.policy import BUILTIN, Policy
from sekisho.core.verdict import Context, Decision, Verdict, judge

REMOTE = "https://github.com/acme/app.git"
KNOWN = Context(remotes=frozenset({"github.com/acme/app"}))
SAVED = Context(checkpointed=True)
PRODUCTION = Answers(reach=Reach.PRODUCTION)
WRITING = Answers(credential=Credential.WRITE)
INSIDE = Answers(reversible=True, reach=Reach.SANDBOX, checkable=True)


def project(text: str) -> Policy:
    return merge(None, parse("version = 1\n" + text, "sekisho.toml"))


def layered(person: str, text: str) -> Policy:
    own = parse("version = 1\n" + person, "config.toml", person=True)
    return merge(own, parse("version = 1\n" + text, "sekisho.toml"))


def act(effect: Effect, verb: str = "http.get", *, code: str = "", **more: Any) -> Action:
    return Action(verb=verb, target="t", effect=effect, reason="it is so", code=code, **more)


def request(effect: Effect, method: str, host: str, path: str = "/", verb: str = "", **detail: Any) -> Action:
    where = {"method": method, "host": host, "port": 443, "path": path}
    return act(effect, verb or f"http.{method.lower()}", detail={"request": where, **detail})


def push(*refs: dict[str, Any], remote: str = REMOTE, **more: Any) -> Action:
    path = "/acme/app.git/git-receive-pack"
    where = {"method": "POST", "host": "github.com", "port": 443, "path": path}
    detail = {"refs": list(refs), "remote": remote, "request": where} | more.pop("detail", {})
    return act(Effect.EXTERNAL, "git.push", detail=detail, **more)


def ref(name: str, op: str = "update", force: bool | None = False) -> dict[str, Any]:
    return {"op": op, "ref": f"refs/heads/{name}", "old": "1" * 40, "new": "2" * 40, "force": force}


# The gate becomes a verdict.


@pytest.mark.parametrize(
    "action, context, verdict, code",
    [
        (act(Effect.READ), Context(), Verdict.ALLOW, "read"),
        (act(Effect.READ, sensitive=True), Context(), Verdict.HOLD, "sensitive-read"),
        (act(Effect.MODEL), Context(), Verdict.ALLOW, "model"),
        (act(Effect.LOCAL, answers=INSIDE), Context(), Verdict.ALLOW, "local"),
        (act(Effect.EXTERNAL), Context(), Verdict.HOLD, "held-write"),
        (act(Effect.EXTERNAL, code="graphql-mutation"), Context(), Verdict.HOLD, "held-write"),
        (act(Effect.EXTERNAL, answers=Answers(stakes=Stakes.PAYMENT)), Context(), Verdict.HOLD, "stakes"),
        (act(Effect.EXTERNAL, answers=PRODUCTION), Context(), Verdict.HOLD, "production"),
        (act(Effect.EXTERNAL, answers=WRITING), Context(), Verdict.HOLD, "write-credential"),
        (act(Effect.UNKNOWN), Context(), Verdict.HOLD, "unknown-effect"),
        (act(Effect.UNKNOWN, answers=INSIDE), SAVED, Verdict.ALLOW, "unknown"),
        (act(Effect.UNKNOWN, answers=INSIDE), Context(), Verdict.HOLD, "unknown-effect"),
        (act(Effect.DESTRUCTIVE, answers=INSIDE), SAVED, Verdict.ALLOW, "destructive"),
        (act(Effect.DESTRUCTIVE, answers=INSIDE), Context(), Verdict.HOLD, "destructive"),
        (act(Effect.FORBIDDEN, code="private-address"), Context(), Verdict.DENY, "private-address"),
    ],
)  # fmt: skip
def test_built_in(action: Action, context: Context, verdict: Verdict, code: str) -> None:
    decision = judge(action, BUILTIN, context)
    assert (decision.verdict, decision.code) == (verdict, code)
    assert bool(decision.instead) is (verdict is not Verdict.ALLOW)


@pytest.mark.parametrize(
    "setting, verdict", [("checkpoint", Verdict.ALLOW), ("human", Verdict.HOLD), ("deny", Verdict.DENY)]
)
def test_destructive_setting(setting: str, verdict: Verdict) -> None:
    policy = project(f"[sandbox]\ndestructive = '{setting}'")
    assert judge(act(Effect.DESTRUCTIVE, answers=INSIDE), policy, SAVED).verdict is verdict


# Pushes.

PUSH = """
[git]
push = [{ ref = 'agent/*', gate = 'auto' }, { ref = '*', gate = 'human' }, { ref = 'x', gate = 'never' }]
"""


@pytest.mark.parametrize(
    "action, verdict, code",
    [
        (push(ref("agent/a")), Verdict.ALLOW, "push-by-rule"),
        (push(ref("agent/a", "create", None)), Verdict.ALLOW, "push-by-rule"),
        (push(ref("agent/a"), answers=Answers(credential=Credential.WRITE)), Verdict.ALLOW, "push-by-rule"),
        (push(ref("agent/a", force=True)), Verdict.HOLD, "force-push"),
        (push(ref("agent/a", force=None)), Verdict.HOLD, "force-push"),
        (push({"op": "update", "ref": "refs/heads/agent/a"}), Verdict.HOLD, "force-push"),
        (push(ref("agent/a", "delete")), Verdict.HOLD, "ref-deletion"),
        (push(ref("agent/a"), ref("other")), Verdict.HOLD, "held-push"),
        (push(ref("agent/a"), ref("main", "delete")), Verdict.DENY, "protected-ref"),
        (push(ref("feature")), Verdict.HOLD, "held-push"),
        (push(ref("x")), Verdict.DENY, "forbidden-by-rule"),
        (push({"op": "create", "ref": "refs/tags/v1"}), Verdict.HOLD, "held-push"),
        (push(ref("main")), Verdict.HOLD, "held-push"),
        (push(ref("main", force=True)), Verdict.DENY, "protected-ref"),
        (push(ref("main", force=None)), Verdict.DENY, "protected-ref"),
        (push(ref("release/1/x", "delete")), Verdict.DENY, "protected-ref"),
        (push(ref("agent/a"), remote="https://evil.example/acme/app"), Verdict.HOLD, "held-push"),
        (push(ref("agent/a"), detail={"remote": None}), Verdict.HOLD, "held-push"),
        (push(ref("agent/a"), detail={"push_options": ["merge_request.create"]}), Verdict.HOLD, "held-push"),
        (push(ref("agent/a"), answers=Answers(stakes=Stakes.VISIBILITY)), Verdict.HOLD, "held-push"),
        (push(ref("agent/a"), answers=Answers(reach=Reach.PRODUCTION)), Verdict.HOLD, "held-push"),
        (push(), Verdict.HOLD, "held-push"),
        (push(ref("agent/a", "rename")), Verdict.DENY, "unreadable-push"),
        (push({"op": "create"}), Verdict.DENY, "unreadable-push"),
    ],
)
def test_push(action: Action, verdict: Verdict, code: str) -> None:
    decision = judge(action, project(PUSH), KNOWN)
    assert (decision.verdict, decision.code) == (verdict, code), decision


def test_rule_for_a_named_remote_needs_no_other_knowledge() -> None:
    policy = project("[[git.push]]\nref = 'agent/*'\ngate = 'auto'\nremote = 'github.com/acme/*'")
    assert judge(push(ref("agent/a")), policy).verdict is Verdict.ALLOW
    assert judge(push(ref("agent/a"), remote="https://evil.example/acme/app"), policy).verdict is Verdict.HOLD


def test_only_the_person_opens_a_protected_ref() -> None:
    opened = layered("[allow]\nforce_push = ['release/*']\ndelete = ['main']", "")
    assert judge(push(ref("release/1", force=True)), opened, KNOWN).verdict is Verdict.HOLD
    assert judge(push(ref("main", "delete")), opened, KNOWN).verdict is Verdict.HOLD
    assert judge(push(ref("main", force=True)), opened, KNOWN).verdict is Verdict.DENY
    assert judge(push(ref("release/1", "delete")), opened, KNOWN).verdict is Verdict.DENY


def test_network_rule_cannot_turn_a_push_into_a_read() -> None:
    policy = project("[[network.rule]]\nhost = 'github.com'\neffect = 'read'")
    decision = judge(push(ref("feature")), policy, KNOWN)
    assert decision.verdict is Verdict.HOLD
    assert [match.source for match in decision.rules] == ["sekisho.toml:2"]


def test_every_matching_push_rule_is_reported() -> None:
    decision = judge(push(ref("agent/a")), project(PUSH), KNOWN)
    assert [(match.rule, match.says) for match in decision.rules] == [
        ("push agent/*", "auto"),
        ("push *", "human"),
    ]


# Network rules and the default.

RENDER = """[[network.rule]]
host = "api.example"
method = "POST"
path = "/v1/render"
effect = "read"
rate = "60/m"
"""


def test_rule_makes_a_post_a_read_with_a_rate() -> None:
    decision = judge(request(Effect.EXTERNAL, "POST", "api.example", "/v1/render"), project(RENDER))
    assert (decision.verdict, decision.gate, decision.action.effect) == (
        Verdict.ALLOW,
        Gate.NONE,
        Effect.READ,
    )
    assert [(limit.rate.count, limit.rate.seconds) for limit in decision.rates] == [(60, 60.0)]
    assert decision.rules[0].says == "read, at most 60/m"
    assert (
        judge(request(Effect.EXTERNAL, "POST", "api.example", "/v1/users"), project(RENDER)).verdict
        is Verdict.HOLD
    )


@pytest.mark.parametrize("effect", [Effect.FORBIDDEN, Effect.MODEL])
def test_rule_cannot_loosen_what_is_forbidden_nor_change_a_model_call(effect: Effect) -> None:
    assert (
        judge(request(effect, "POST", "api.example", "/v1/render"), project(RENDER)).action.effect is effect
    )


def test_stakes_stay_although_a_rule_says_read() -> None:
    action = request(Effect.EXTERNAL, "POST", "api.example", "/v1/render")
    paying = Action(
        **{name: getattr(action, name) for name in action.__struct_fields__ if name != "answers"},
        answers=Answers(stakes=Stakes.PAYMENT),
    )
    assert judge(paying, project(RENDER)).verdict is Verdict.HOLD


def test_acting_get_is_held() -> None:
    policy = project("[[network.rule]]\nhost = 'hooks.example'\neffect = 'external'\nmethod = 'GET'")
    decision = judge(request(Effect.READ, "GET", "hooks.example"), policy)
    assert (decision.verdict, decision.code) == (Verdict.HOLD, "held-write")
    assert "sekisho.toml:2" in decision.reason


def test_more_specific_rule_decides_and_all_are_reported() -> None:
    policy = project(
        "[[network.rule]]\nhost = '*.example'\neffect = 'forbidden'\n"
        "[[network.rule]]\nhost = 'api.example'\npath = '/a/**'\neffect = 'read'\n"
    )
    decision = judge(request(Effect.EXTERNAL, "POST", "api.example", "/a/b"), policy)
    assert decision.verdict is Verdict.ALLOW
    assert len(decision.rules) == 2
    other = judge(request(Effect.READ, "GET", "other.example"), policy)
    assert (other.verdict, other.code) == (Verdict.DENY, "forbidden-by-rule")


def test_tie_between_layers_is_decided_by_strictness() -> None:
    rule = "[[network.rule]]\nhost = 'h.example'\neffect = '{}'"
    policy = layered(rule.format("external"), rule.format("read"))
    assert judge(request(Effect.READ, "GET", "h.example"), policy).verdict is Verdict.HOLD


AUTO = """[[network.rule]]
host = "h.example"
effect = "external"
gate = "auto"
reversible = true
checkable = true
"""


@pytest.mark.parametrize(
    "answers, verdict",
    [
        (Answers(), Verdict.ALLOW),
        (Answers(credential=Credential.WRITE), Verdict.HOLD),
        (Answers(reach=Reach.PRODUCTION), Verdict.HOLD),
        (Answers(stakes=Stakes.CONTRACT), Verdict.HOLD),
    ],
)
def test_reversible_write_may_be_auto(answers: Answers, verdict: Verdict) -> None:
    where = {"method": "POST", "host": "h.example", "port": 443, "path": "/"}
    action = act(Effect.EXTERNAL, "http.post", answers=answers, detail={"request": where})
    assert judge(action, project(AUTO)).verdict is verdict


def test_production_by_name_is_never_auto() -> None:
    policy = project(AUTO + "[project.environments]\nproduction = ['*.example']")
    decision = judge(request(Effect.EXTERNAL, "POST", "h.example"), policy)
    assert (decision.verdict, decision.code) == (Verdict.HOLD, "production")
    assert judge(request(Effect.READ, "GET", "h2.example"), policy).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "default, action, verdict",
    [
        ("read", request(Effect.READ, "GET", "any.example"), Verdict.ALLOW),
        ("listed", request(Effect.READ, "GET", "any.example"), Verdict.HOLD),
        ("listed", request(Effect.READ, "GET", "listed.example"), Verdict.ALLOW),
        ("listed", request(Effect.READ, "GET", "any.example", listed=True), Verdict.ALLOW),
        ("listed", request(Effect.READ, "GET", "any.example", listed="yes"), Verdict.HOLD),
        ("listed", request(Effect.READ, "GET", "github.com"), Verdict.ALLOW),
        ("listed", request(Effect.MODEL, "POST", "model.example"), Verdict.ALLOW),
        ("listed", request(Effect.EXTERNAL, "POST", "listed.example"), Verdict.HOLD),
        ("gated", request(Effect.READ, "GET", "listed.example"), Verdict.HOLD),
        ("gated", request(Effect.READ, "GET", "ruled.example"), Verdict.ALLOW),
        ("gated", request(Effect.MODEL, "POST", "model.example"), Verdict.ALLOW),
        ("gated", act(Effect.LOCAL, "shell", answers=INSIDE), Verdict.ALLOW),
    ],
)
def test_network_default(default: str, action: Action, verdict: Verdict) -> None:
    policy = project(
        f"[network]\ndefault = '{default}'\n[[network.host]]\nhost = 'listed.example'\n"
        "[[network.rule]]\nhost = 'ruled.example'\nmethod = 'GET'\neffect = 'read'\n"
    )
    assert judge(action, policy, KNOWN).verdict is verdict


# Tools and commands.

TOOLS = """
[[tool]]
name = "mcp__crm__search"
type = "read"
sensitive = true
rate = "30/m"
[[tool]]
name = "mcp__docs__*"
type = "read"
[[tool]]
name = "mcp__docs__delete"
type = "write"
[[tool]]
name = "npm publish"
type = "write"
[[tool]]
name = "mcp__notes__add"
type = "write"
gate = "auto"
reversible = true
checkable = true
"""


@pytest.mark.parametrize(
    "name, verdict, code",
    [
        ("mcp__crm__search", Verdict.HOLD, "sensitive-read"),
        ("mcp__docs__read", Verdict.ALLOW, "read"),
        ("mcp__docs__delete", Verdict.HOLD, "held-write"),
        ("mcp__notes__add", Verdict.ALLOW, "external"),
        ("mcp__new__thing", Verdict.HOLD, "unlisted-tool"),
    ],
)
@pytest.mark.parametrize("observed", [Effect.UNKNOWN, Effect.EXTERNAL, Effect.READ])
def test_tool(name: str, verdict: Verdict, code: str, observed: Effect) -> None:
    decision = judge(act(observed, "mcp.call", detail={"tool": name}), project(TOOLS))
    assert (decision.verdict, decision.code) == (verdict, code)
    assert decision.rules


@pytest.mark.parametrize(
    "name, verdict",
    [
        ("read", Verdict.ALLOW),
        ("find", Verdict.HOLD),
        ("other", Verdict.HOLD),
        ("any", Verdict.HOLD),
        ("*", Verdict.HOLD),
    ],
)
def test_tool_by_its_name_on_the_wire(name: str, verdict: Verdict) -> None:
    rule = "[[tool]]\nname = '{}'\ntype = '{}'\n"
    rules = [("mcp__a__read", "read"), ("mcp__a__find", "read"), ("mcp__longer__find", "write")]
    rules += [("mcp__bb__find", "read"), ("mcp__other__*", "read"), ("mcp__b__any", "write")]
    policy = project("".join(rule.format(*pair) for pair in rules))
    assert judge(act(Effect.EXTERNAL, "mcp.call", detail={"tool": name}), policy).verdict is verdict


def test_network_rule_cannot_open_an_unlisted_tool() -> None:
    policy = project("[[network.rule]]\nhost = 'mcp.example'\neffect = 'read'")
    assert judge(request(Effect.UNKNOWN, "POST", "mcp.example", tool="x"), policy).verdict is Verdict.HOLD


def test_tool_given_as_a_command() -> None:
    policy = project(TOOLS)
    decision = judge(
        act(Effect.UNKNOWN, "shell", answers=INSIDE, detail={"argv": ["npm", "publish", "--tag", "x"]}),
        policy,
        SAVED,
    )
    assert (decision.verdict, decision.action.effect) == (Verdict.HOLD, Effect.EXTERNAL)
    assert (
        judge(act(Effect.READ, "shell", detail={"argv": ["npm", "view", "x"]}), policy).verdict
        is Verdict.ALLOW
    )


def test_tool_called_read_does_not_hide_a_known_write() -> None:
    policy = project("[[tool]]\nname = 'git'\ntype = 'read'")
    assert (
        judge(act(Effect.EXTERNAL, "shell", detail={"argv": ["git", "push"]}), policy).verdict is Verdict.HOLD
    )


DIGEST = "sha256:" + "a" * 64
COMMANDS = f"""
[[command]]
match = ["./deploy.sh", "staging"]
gate = "human"
instead = "see docs/deploy.md"
[[command]]
match = ["./deploy.sh"]
gate = "never"
[[command]]
match = ["./build.sh"]
gate = "auto"
digest = "{DIGEST}"
"""


@pytest.mark.parametrize(
    "argv, digest, verdict",
    [
        (["./deploy.sh", "staging", "-v"], None, Verdict.HOLD),
        (["./deploy.sh", "production"], None, Verdict.DENY),
        (["./build.sh"], DIGEST, Verdict.ALLOW),
        (["./build.sh"], "sha256:" + "b" * 64, Verdict.HOLD),
        (["./build.sh"], None, Verdict.HOLD),
        (["./build.sh", "--publish"], DIGEST, Verdict.HOLD),
    ],
)
def test_command(argv: list[str], digest: str | None, verdict: Verdict) -> None:
    action = act(Effect.UNKNOWN, "shell", detail={"argv": argv, "script_digest": digest})
    assert judge(action, project(COMMANDS)).verdict is verdict


@pytest.mark.parametrize(
    "gate, argv, matches",
    [
        ("never", ["git", "clean", "-n"], True),
        ("never", ["git", "-C", "elsewhere", "clean"], True),
        ("human", ["git", "-C", "elsewhere", "clean"], True),
        ("auto", ["git", "-C", "elsewhere", "clean"], False),
        ("auto", ["git", "clean", "-n"], False),
        ("auto", ["git", "clean"], True),
        ("never", ["git", "log", "clean"], False),
    ],
)
def test_options_before_the_verb_hide_it_from_no_rule_that_tightens(
    gate: str, argv: list[str], matches: bool
) -> None:
    policy = project(f'[[command]]\nmatch = ["git", "clean"]\ngate = "{gate}"')
    verb = next(n for n, word in enumerate(argv) if word in ("clean", "log"))
    detail = {"argv": argv, "plain": ["git", *argv[verb:]]}
    told = judge(act(Effect.DESTRUCTIVE, "git.clean", answers=INSIDE, detail=detail), policy, SAVED)
    assert any(rule.rule.startswith("command") or "git clean" in rule.rule for rule in told.rules) is matches


@pytest.mark.parametrize("type_, held", [("write", True), ("read", False)])
def test_a_tool_that_is_a_write_is_one_behind_options_too(type_: str, held: bool) -> None:
    policy = project(f'[[tool]]\nname = "kubectl scale"\ntype = "{type_}"')
    detail = {"argv": ["kubectl", "-n", "x", "scale"], "plain": ["kubectl", "scale"]}
    decision = judge(act(Effect.LOCAL, "shell", answers=INSIDE, detail=detail), policy, SAVED)
    assert (decision.verdict is Verdict.HOLD) is held


def test_command_s_own_way_is_named() -> None:
    action = act(Effect.UNKNOWN, "shell", answers=INSIDE, detail={"argv": ["./deploy.sh", "staging"]})
    assert judge(action, project(COMMANDS), SAVED).instead == "see docs/deploy.md"


# Layers.


def test_locked_list_cannot_be_reached_past_by_a_more_specific_rule() -> None:
    own, theirs = (
        "[[git.push]]\nref = '*'\ngate = 'human'\n",
        "[[git.push]]\nref = 'agent/*'\ngate = 'auto'\n",
    )
    assert judge(push(ref("agent/a")), layered(own, theirs), KNOWN).verdict is Verdict.ALLOW
    locked = judge(push(ref("agent/a")), layered("[locked]\nkeys = ['git.push']\n" + own, theirs), KNOWN)
    assert locked.verdict is Verdict.HOLD
    assert [match.rule for match in locked.rules] == ["push *", "push agent/*"]


@pytest.mark.parametrize(
    "key, theirs, action",
    [
        ("git.push", "[[git.push]]\nref = 'agent/*'\ngate = 'auto'", push(ref("agent/a"))),
        ("network.rule", RENDER, request(Effect.EXTERNAL, "POST", "api.example", "/v1/render")),
        ("network", RENDER, request(Effect.EXTERNAL, "POST", "api.example", "/v1/render")),
        (
            "tool",
            "[[tool]]\nname = 't'\ntype = 'read'",
            act(Effect.EXTERNAL, "mcp.call", detail={"tool": "t"}),
        ),
        ("command", COMMANDS, act(Effect.UNKNOWN, detail={"argv": ["./build.sh"], "script_digest": DIGEST})),
    ],
)
def test_locked_list_without_own_rules_is_closed(key: str, theirs: str, action: Action) -> None:
    assert judge(action, layered("", theirs), KNOWN).verdict is Verdict.ALLOW
    assert judge(action, layered(f"[locked]\nkeys = ['{key}']", theirs), KNOWN).verdict is Verdict.HOLD


def test_locked_list_can_be_tightened() -> None:
    policy = layered(
        "[locked]\nkeys = ['network.rule']", "[[network.rule]]\nhost = 'h.example'\neffect = 'forbidden'"
    )
    assert judge(request(Effect.READ, "GET", "h.example"), policy).verdict is Verdict.DENY


ALL = project(PUSH + RENDER + AUTO + TOOLS + COMMANDS)
REQUESTS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "method": st.sampled_from(["GET", "POST"]),
        "host": st.sampled_from(["h.example", "api.example", "github.com", "x"]) | st.none(),
        "port": st.sampled_from([443, None, "443"]),
        "path": st.sampled_from(["/", "/v1/render"]),
    },
)
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "request": REQUESTS,
        "tool": st.sampled_from(["mcp__docs__read", "unlisted", 3]),
        "argv": st.sampled_from([["./build.sh"], ["./deploy.sh", "staging"], [], "text", None]),
        "script_digest": st.sampled_from([DIGEST, None]),
        "refs": st.sampled_from([[ref("agent/a")], [ref("main", force=True)], [], None, "x", [3]]),
        "remote": st.sampled_from([REMOTE, "", None]),
    },
)
ACTIONS = st.builds(
    Action,
    verb=st.sampled_from(["git.push", "http.post", "mcp.call", "shell"]),
    target=st.just("t"),
    effect=st.sampled_from(Effect),
    reason=st.just("r"),
    detail=DETAILS,
    sensitive=st.booleans(),
    answers=st.builds(
        Answers, reversible=st.booleans(), reach=st.sampled_from(Reach), stakes=st.sampled_from(Stakes)
    ),
)


@given(ACTIONS, st.booleans())
def test_no_rule_opens_what_must_stay_closed(action: Action, saved: bool) -> None:
    context = Context(checkpointed=saved, remotes=KNOWN.remotes)
    decision: Decision = judge(action, ALL, context)
    if action.effect is Effect.FORBIDDEN:
        assert decision.verdict is Verdict.DENY
    if action.answers.stakes is not Stakes.NONE or action.sensitive:
        assert STRICTNESS[decision.gate] >= STRICTNESS[Gate.HUMAN]
    changes = decision.action.effect is not Effect.READ
    if action.answers.reach is Reach.PRODUCTION and changes:
        assert decision.verdict is not Verdict.ALLOW
    assert decision.reason
    assert decision.code
