"""gh and glab: the grammar knows the verbs; `api` is a request."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import tool
from shim.handlers.http.request import READS
from shim.options import parse, spec
from shim.table import judge_by_table
from shim.text import HOLE, known

_API = spec(
    "-X --method -f --raw-field -F --field -H --header --input --hostname -q --jq -t --template -p "
    "--preview --cache -R --repo --output"
)


def forge(call: Call) -> str | None:
    known_tool = tool(f"{call.name}-verbs")
    assert known_tool is not None
    words = parse(call.arguments, known_tool.spec()).words
    if words[:1] == ["api"] and not any(word in ("--help",) for word in call.arguments[-1:]):
        _api(call)
        return HOLE
    if words[:2] == ["alias", "set"] or words[:1] == ["alias"]:
        call.does(Effect.LOCAL, " ".join(words[:3]), "changes an alias of the tool")
        return None
    return judge_by_table(call, known_tool)


def _api(call: Call) -> None:
    arguments = list(call.arguments)
    arguments.remove("api")
    parsed = parse(arguments, _API)
    endpoint = (parsed.words or [HOLE])[0]
    fields = parsed.all("-f", "--raw-field", "-F", "--field")
    method = parsed.last("-X", "--method") or ("POST" if fields or parsed.has("--input") else "GET")
    host = "github.com" if call.name == "gh" else "gitlab.com"
    target = f"{host}/{endpoint.lstrip('/')}"
    if not known(method) or parsed.wild:
        call.unknown(target, "the method cannot be told", code="dynamic-method")
    elif endpoint.strip("/") == "graphql" and method.upper() != "DELETE":
        _graphql(call, target, fields, parsed.has("--input"))
    elif method.upper() in READS:
        call.does(Effect.READ, target, "reads from the forge", verb="forge.api")
    else:
        call.does(
            Effect.EXTERNAL,
            target,
            f"{method.upper()} changes something at the forge",
            code="http-write",
            verb="forge.api",
        )


def _graphql(call: Call, target: str, fields: list[str], from_file: bool) -> None:
    query = next((field.partition("=")[2] for field in fields if field.startswith("query=")), HOLE)
    if from_file or not known(query) or query.startswith("@"):
        call.unknown(target, "the query is not on the command line", code="dynamic-command")
        return
    text = re.sub(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*', " ", query)
    effect = Effect.EXTERNAL if _mutates(text) else Effect.READ
    call.does(
        effect,
        target,
        "a GraphQL query" if effect is Effect.READ else "a GraphQL mutation",
        verb="forge.graphql",
    )


def _mutates(text: str) -> bool:
    """True if an operation of the document, outside all braces, is a mutation."""
    depth, top = 0, ""
    for char in text:
        depth += (char in "{(") - (char in "})")
        top += char if not depth else " "
    return (
        re.search(r"(^|[\s})])mutation\b", re.sub(r"(query|subscription|fragment)\s+\w+", " ", top))
        is not None
    )


HANDLERS: dict[str, Handler] = {"gh": forge, "glab": forge}
