"""What is said for each code: why it was stopped, and the safe way on.

Written to the style page in `refusal`. An unknown code gets the text of its verdict.
"""

import msgspec


class Text(msgspec.Struct, frozen=True):
    """`why` completes "stopped because …", `instead` is what to do now."""

    why: str
    instead: str


_GO_ON = "go on with other work; a person decides from outside, and nothing is lost meanwhile"
_ASK = "leave it prepared, write its purpose to $SEKISHO_OUTBOX, and go on with other work"

HELD = Text("it would change something outside the sandbox", _GO_ON)
DENIED = Text("no approval can open it", "leave it out and say in the handoff what was needed and why")
BROKEN = Text(
    "the gatekeeper cannot decide, so nothing leaves",
    "keep working locally; commits and test results are kept and go into the handoff",
)

TEXTS: dict[str, Text] = {
    "held-push": Text(
        "a push changes the remote repository",
        "commit and go on; the push is kept as it is and sent once approved",
    ),
    "force-push": Text(
        "the push would replace commits on the remote",
        "push to a new branch, which loses nothing, or wait for the answer",
    ),
    "ref-deletion": Text("the push would delete a ref on the remote", "leave the ref; deleting it can wait"),
    "protected-ref": Text(
        "force push to and deletion of a protected ref are forbidden",
        "push to a new branch and propose the change from there",
    ),
    "unreadable-push": Text(
        "the push does not say which refs it changes", "push named branches with an ordinary git client"
    ),
    "held-write": HELD,
    "unknown-effect": Text(
        "whether it only reads cannot be told, so it counts as a write",
        "use a form that is known to read (of a request, GET), or go on with other work",
    ),
    "model-not-configured": Text(
        "no [[network.model]] of the policy names this provider",
        "a person adds [[network.model]] with provider and key (docs/agents.md) and starts a new session; "
        "approving calls one by one leads nowhere",
    ),
    "unlisted-tool": Text(
        "nobody has classified this tool, so it counts as a write",
        "use a listed tool, or note it in $SEKISHO_OUTBOX so that a person can classify it",
    ),
    "sensitive-read": Text("what it reads is marked sensitive", _ASK),
    "stakes": Text("money or a right would move", _ASK),
    "production": Text(
        "it touches production", "try it on staging or locally, and leave production to a person"
    ),
    "write-credential": Text("it uses credentials that can write", _ASK),
    "destructive": Text(
        "it would lose work that no checkpoint covers",
        "keep first what it would lose (a commit, a copy, a dump), or leave it to a person",
    ),
    "destructive-denied": Text(
        "this project allows no destructive commands",
        "find a way that keeps what is there (a new name, a copy), or leave it to a person",
    ),
    "host-not-listed": Text(
        "this session may only reach listed hosts",
        "use what is listed in $SEKISHO_BRIEF, or note the host in $SEKISHO_OUTBOX",
    ),
    "network-gated": Text("every request of this session waits for a person", _ASK),
    "command-rule": Text("a rule of this project asks for a person", _ASK),
    "network-rule": Text("a rule of this project asks for a person", _ASK),
    "tool-rule": Text("a rule of this project asks for a person", _ASK),
    "forbidden-by-rule": Text("a rule of this project forbids it", DENIED.instead),
    "private-address": Text(
        "the name leads to an address that is not public",
        "a person can pin it under [network] resolve, or open a local port under [[network.local]]",
    ),
    "metadata-service": Text("it is a metadata service, which gives out credentials", DENIED.instead),
    "disagreement": Text(
        "the request names different hosts in different places",
        "send it with one host in URL, Host and TLS name",
    ),
    "malformed-request": Text("the request is malformed", "send it with an ordinary HTTP client"),
    "planted-secret": Text(
        "a secret is in it: a key of the person's, or a value planted as a trap",
        "send it without secrets; nothing outside needs that value",
    ),
    "secret-in-commit": Text(
        "it contains what looks like a secret",
        "remove the secret from the commit; credentials stay outside the sandbox",
    ),
    "privileged-command": Text(
        "it asks for rights over the system",
        "use what is installed, or note in $SEKISHO_OUTBOX what is missing",
    ),
    "no-wire": Text(
        "its protocol cannot be inspected", "use https, which is inspected, or leave it to a person"
    ),
    "absent-tool": Text(
        "the tool is not part of this sandbox",
        "if the work needs it, ask ahead with evidence (`sekisho-request --help`), and go on with other work",
    ),
    "rate-exceeded": Text(
        "it was called more often than the rule allows", "wait for the next interval, or ask for less"
    ),
    "budget-exceeded": Text(
        "more was sent to hosts that are not listed than a read needs",
        "send less, or have the host listed by a person",
    ),
    "body-too-large": Text("the body is too large to be looked at", "send it in smaller parts"),
    "invalid-arguments": Text(
        "the arguments do not fit the tool's schema", "correct the arguments and call it again"
    ),
    "dry-run-missing": Text(
        "no successful dry run exists for this very tree", "run the tool's dry run first, then call it again"
    ),
    "too-much-held": Text(
        "too much of this session waits for a person already",
        "go on with other work; what is held is kept, and a decision makes room",
    ),
    "telemetry-dropped": Text("telemetry is dropped here, not queued", "nothing needs to be done"),
    "loopback-inside": Text(
        "localhost is the sandbox itself, and the proxy never dials it",
        "ask it directly, without the proxy (NO_PROXY covers localhost, 127.0.0.1 and ::1)",
    ),
    "gate-broken": BROKEN,
    "forbidden": DENIED,
    "host-disguised": Text(
        "the host is spelled so that it passes for another", "name the host in its plain spelling"
    ),
    "host-unresolved": Text(
        "its name does not resolve", "look at the name; a person can pin it under [network] resolve"
    ),
    "not-in-place": Text(
        "in place, the settings of the repository are the person's",
        "leave it to a person, and go on with other work",
    ),
    "signed-request": Text(
        "it is signed for this moment, so it cannot be kept and sent later",
        "leave it prepared; a person can start the session with `sekisho run --wait 10m` and approve it "
        "while the call waits",
    ),
    "advertisement-unreadable": Text(
        "what the remote said of its refs could not be read", "ask again later, or fetch from another remote"
    ),
    "row-unreadable": Text("the row is no request and no command", "mend the row as its reason says"),
    "hold-denied": Text("a person said no", "do not ask again; the reason says what is wanted instead"),
    "hold-expired": Text("nobody decided in time", "ask again if it is still wanted: it is held anew"),
    "hold-superseded": Text("a later request took its place", "wait for the later one"),
    "hold-void": Text(
        "its approval counts no longer",
        "where something has moved, take that in (for a push: fetch, then rebase or merge) and ask again, "
        "which is held anew; where a person took it back, leave it",
    ),
    "hold-done": Text("it was sent once already", "do not send it again"),
    "hold-failed": Text(
        "it was approved and sent, and had no effect", "look at the reason, mend it, then ask again"
    ),
    "hold-unknown": Text(
        "it was cut off and nobody knows how it ended", "leave its target alone until a person has looked"
    ),
}

# What to do instead where it is a command that waits, for codes whose text speaks of requests.
COMMANDS: dict[str, str] = {
    "unknown-effect": "run it in a session, where what it sends is judged by itself, or leave it to a person",
}


def after(state: str) -> str:
    """What an agent does about a hold that ended in a state; empty for every other state."""
    text = TEXTS.get(f"hold-{state}")
    return text.instead if text else ""
