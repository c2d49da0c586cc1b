"""The brief: told to the agent before it starts, so that it does not beat against the same wall. Pure.

Made from the policy alone; whatever it says is enforced elsewhere.
"""

from collections.abc import Iterable

from sekisho.core.display import one_line
from sekisho.core.policy import Policy
from sekisho.store.holds import Hold

_OPENING = """# Where you will be stopped, and what to do then

You work in a sandbox. Reading, editing, committing, building and testing go by themselves; so do reads
over the network and anything on localhost. What would become final outside does not leave by itself: it
is held, kept exactly as you sent it, and a person decides later. A held act answers at once; go on with
other work, and do not send it again: the answer would be the same id.

| you do | what happens |
|---|---|
"""
_ROWS = (
    ("read a file, edit, commit, run tests", "done"),
    ("GET, HEAD, `git fetch`, `git clone`, install a package", "done, counted"),
    ("a server on localhost", "done; it is the sandbox's own localhost"),
    ("POST, PUT, PATCH, DELETE to a service", "held for a person, unless a rule below says otherwise"),
    ("force push to or deletion of a protected ref, private addresses, metadata services", "denied"),
    ("ssh, mail, browsers, deploy tools", "not here; prepare the act and describe it in the outbox"),
)
_CLOSING = """
When something is held (`remote rejected ... held`, HTTP 403 with `Sekisho-Hold`, exit status 75):
1. Note the id. Do not retry, do not look for another way: the answer cannot change from inside.
2. Before a push or a request that matters, write what it is for to `$SEKISHO_OUTBOX/purpose.md`.
   To ask ahead for what is not here: `sekisho-request PURPOSE_FILE EVIDENCE_FILE...`.
3. Go on with other work. What was decided appears as a file in `$SEKISHO_OUTBOX/decisions/`.

When something is denied, no approval will open it: take the way the refusal names.
The finish line is "ready to send, waiting for approval", not "sent".
"""


def render(policy: Policy, decided: Iterable[Hold] = (), waiting: Iterable[Hold] = ()) -> str:
    """The brief as Markdown. `decided` and `waiting` are holds of earlier sessions in this project."""
    rows = "".join(f"| {what} | {then} |\n" for what, then in (*_ROWS, *_push_rows(policy)))
    return "".join((_OPENING, rows, _network(policy), _CLOSING, _holds(decided, waiting), _advice(policy)))


def _push_rows(policy: Policy) -> list[tuple[str, str]]:
    said = {"auto": "sent by itself (no force, no deletion)", "human": "held for a person", "never": "denied"}
    rows = [(f"`git push` to `{rule.ref}`", said[str(rule.gate)]) for rule in policy.git.push]
    if not any(rule.ref == "*" for rule in policy.git.push):
        rows.append(("`git push` to any other ref", "held for a person"))
    return rows


def _network(policy: Policy) -> str:
    lines = [f"\nProtected refs: {', '.join(f'`{ref}`' for ref in policy.project.protected)}.\n"]
    if policy.network.default == "listed":
        hosts = ", ".join(f"`{entry.host}`" for entry in policy.network.host)
        lines.append(f"Only these hosts are reachable: {hosts or 'none'}.\n")
    if policy.network.default == "gated":
        lines.append("Every request outside waits for a person.\n")
    lines += [
        f"Rule: {rule.method} `{rule.host}{rule.path}` counts as {rule.effect}.\n"
        for rule in policy.network.rule
    ]
    return "".join(lines)


def _holds(decided: Iterable[Hold], waiting: Iterable[Hold]) -> str:
    lines = [f"- {h.id} {h.state}: {h.action.verb} {one_line(h.target)} {_why(h)}\n" for h in decided]
    lines += [f"- {h.id} still waits: {h.action.verb} {one_line(h.target)}\n" for h in waiting]
    return "\n## From earlier sessions in this project\n\n" + "".join(lines) if lines else ""


def _why(hold: Hold) -> str:
    return f"({one_line(hold.reason)})" if hold.reason else ""


def _advice(policy: Policy) -> str:
    return f"\nGuidance that is not enforced: `{policy.brief.advice}`.\n" if policy.brief.advice else ""
