"""The brief: told to the agent before it starts, so that it does not beat against the same wall. Pure.

Made from the policy and from how the session was started; whatever it says is enforced elsewhere.
"""

from collections.abc import Iterable

from sekisho.core.display import one_line
from sekisho.core.policy import NetworkRule, Policy
from sekisho.core.texts import after
from sekisho.core.units import render_duration, render_rate, render_size
from sekisho.store.holds import Hold

_OPENING = """# Where you will be stopped, and what to do then

You work in a sandbox, {place}.

Reading, editing, committing, building and testing go by themselves; so do reads over the network and
anything on localhost. What would become final outside does not leave by itself: it is held, kept exactly
as you sent it, and a person decides. {answers}; go on with other work,
and do not send it again: the answer would be the same id.

| you do | what happens |
|---|---|
"""
_CLONE = "on a clone of the repository; the person takes commits and files over when you have ended"
_IN_PLACE = (
    "in the person's own working tree: edits are theirs at once, commits and branches come over when you "
    "have ended, where the repository has not moved meanwhile"
)
_AT_ONCE = "A held act answers at once"
_ROWS = (
    ("read a file, edit, commit", "done"),
    (
        "run tests",
        "done, and seen with their counts; run them after the last edit: they are evidence for those files",
    ),
    (
        "GET, HEAD, `git fetch`, `git clone`, install a package",
        "done, counted; no login needed for this repository's remotes",
    ),
    ("POST, PUT, PATCH, DELETE to a service", "held for a person, unless a rule below says otherwise"),
    (
        "force push to or deletion of a protected ref, private addresses, metadata services, sending a key",
        "denied",
    ),
    ("`git commit` that would bring a secret", "refused with file and line, status 77; take it out"),
)
_NOT_HERE = (
    "mail, browsers, ssh, deploy and container tools, `sudo`{kept}",
    "not here, status 77 or 127; prepare the act and describe it in the outbox",
)
_SETTINGS = (
    "remotes, `git config`, upstreams, submodules, worktrees, sparse checkout",
    "refused, status 77: they are settings of the person's repository",
)
_BY_ITSELF = (
    "sent by itself (no force, no deletion, and nothing of what the person had not committed when you began: "
    "that is held)"
)
_LOSING = "a command that loses local work (`git reset --hard`, `git clean`, `rm` of what is not committed)"
_LOST = {
    "checkpoint": "done after a checkpoint; of ignored files, which none covers, refused",
    "human": "held for a person, status 75",
    "deny": "denied, status 77",
}
_CLOSING = """
When something is held (`remote rejected ... held`, HTTP 403 with `Sekisho-Hold`, exit status 75):
1. Note the id. Do not retry, do not look for another way: the answer cannot change from inside.
2. Before a push or a request that matters, write what it is for to `$SEKISHO_OUTBOX/purpose.md`.
   To ask ahead for what is not here, leave files in `$SEKISHO_OUTBOX/requests/`: what, why, and evidence.
   What the person should know goes into `$SEKISHO_OUTBOX/notes.md`.
3. Go on with other work. What was decided appears as a file in `$SEKISHO_OUTBOX/decisions/`.

When something is denied, no approval will open it: take the way the refusal names.
The finish line is "ready to send, waiting for approval", not "sent".
"""


def render(
    policy: Policy,
    decided: Iterable[Hold] = (),
    waiting: Iterable[Hold] = (),
    *,
    in_place: bool = False,
    wait: float = 0.0,
) -> str:
    """The brief as Markdown. `decided` and `waiting` are holds of earlier sessions in this project.

    `in_place`: the session works in the person's own tree. `wait`: seconds that a held call stays open.
    """
    answers = f"A held call stays open for up to {render_duration(wait)}, then answers" if wait else _AT_ONCE
    opening = _OPENING.format(place=_IN_PLACE if in_place else _CLONE, answers=answers)
    rows = (
        *_ROWS,
        _losing(policy, in_place),
        *((_SETTINGS,) if in_place else ()),
        _signed(wait),
        _local(policy),
        _not_here(policy),
        *_push_rows(policy),
    )
    table = "".join(f"| {what} | {then} |\n" for what, then in rows)
    return "".join((opening, table, _network(policy), _CLOSING, _holds(decided, waiting), _advice(policy)))


def _losing(policy: Policy, in_place: bool) -> tuple[str, str]:
    """In place a checkpoint frees nothing: what is lost would be the person's."""
    held = in_place and policy.sandbox.destructive == "checkpoint"
    return _LOSING, _LOST["human" if held else policy.sandbox.destructive]


def _signed(wait: float) -> tuple[str, str]:
    then = (
        "waits with its call; undecided in time, it is over, as nothing can be kept to be sent later"
        if wait
        else "denied, as nothing can be kept to be sent later; leave it prepared"
    )
    return "a write signed for this moment (AWS, OAuth 1.0, Digest and their like)", then


def _local(policy: Policy) -> tuple[str, str]:
    ports = ", ".join(str(entry.port) for entry in policy.network.local)
    beside = (
        f"; these ports lead to the person's machine and are judged like any host: {ports}" if ports else ""
    )
    return "a server on localhost", f"done; it is the sandbox's own localhost{beside}"


def _not_here(policy: Policy) -> tuple[str, str]:
    what, then = _NOT_HERE
    tools = policy.sandbox.tools
    if tools.only is not None:
        return f"a command besides {_names(tools.only)}", then
    return what.format(kept=f", except {_names(tools.keep)}" if tools.keep else ""), then


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _push_rows(policy: Policy) -> list[tuple[str, str]]:
    said = {"auto": _BY_ITSELF, "human": "held for a person", "never": "denied"}
    rows = [(f"`git push` to `{rule.ref}`", said[str(rule.gate)]) for rule in policy.git.push]
    if not any(rule.ref == "*" for rule in policy.git.push):
        rows.append(("`git push` to any other ref", "held for a person"))
    return rows


def _network(policy: Policy) -> str:
    network = policy.network
    lines = [f"\nProtected refs: {_names(policy.project.protected)}.\n"]
    if network.default == "read":
        lines.append(
            f"Reads may send {render_size(network.budget)} in all to a domain that nobody listed; more is "
            "denied.\n"
        )
    if network.default == "listed":
        hosts = _names(entry.host for entry in network.host)
        lines.append(f"Only these hosts are reachable: {hosts or 'none'}.\n")
    if network.default == "gated":
        lines.append("Every request outside waits for a person.\n")
    lines += map(_rule, network.rule)
    return "".join(lines)


def _rule(rule: NetworkRule) -> str:
    limit = f", at most {render_rate(rule.rate.count, rule.rate.seconds)}" if rule.rate else ""
    return f"Rule: {rule.method} `{rule.host}{rule.path}` counts as {rule.effect}{limit}.\n"


def _holds(decided: Iterable[Hold], waiting: Iterable[Hold]) -> str:
    lines = [
        f"- {h.id} {h.state}: {h.action.verb} {one_line(h.target)}{_why(h)}; {after(h.state)}\n"
        for h in decided
    ]
    lines += [f"- {h.id} still waits: {h.action.verb} {one_line(h.target)}\n" for h in waiting]
    return "\n## From earlier sessions in this project\n\n" + "".join(lines) if lines else ""


def _why(hold: Hold) -> str:
    return f" ({one_line(hold.reason)})" if hold.reason else ""


def _advice(policy: Policy) -> str:
    return f"\nGuidance that is not enforced: `{policy.brief.advice}`.\n" if policy.brief.advice else ""
