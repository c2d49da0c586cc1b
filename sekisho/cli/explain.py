"""`sekisho explain`: the verdict about a request or a command, and every rule that matched."""

import json as jsonlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from netpolicy.call import BODYLESS
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.explaining import Explained, Place, unreadable
from sekisho.cli.explaining import explain as explained
from sekisho.cli.judging import Judging, judging
from sekisho.cli.options import Json
from sekisho.cli.show import nothing
from sekisho.core.action import Action
from sekisho.core.display import one_line
from sekisho.core.verdict import Decision, Verdict

_BARE = re.compile(r"[^/?#:@\s]+(?::\d+)?(?:[/?#].*)?", re.DOTALL)

# What each context is, and how to ask for the other.
CONTEXTS: dict[Place, str] = {
    "host": "host, outside of any session; as an agent in a session would meet it: --context sandbox",
    "sandbox": "sandbox, as in a session from here; outside of any session: --context host",
}

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(context_settings={"allow_interspersed_args": False})
def explain(
    command: Annotated[
        list[str] | None, typer.Argument(help="A command, after --.", metavar="CMD...")
    ] = None,
    shell: Annotated[
        str | None, typer.Option(help="A command line as given to bash -c.", metavar="TEXT")
    ] = None,
    http: Annotated[tuple[str, str] | None, typer.Option(help="A request.", metavar="METHOD URL")] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="A header of it; repeatable.", metavar="NAME:VALUE")
    ] = None,
    body_file: Annotated[
        Path | None, typer.Option(help="A file with its body.", exists=True, metavar="FILE")
    ] = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read rows from stdin, answer one line each.")
    ] = False,
    context: Annotated[
        Place, typer.Option(help="Where a command would run: in a session (sandbox), or outside of any.")
    ] = "host",
    policy: Annotated[Path | None, typer.Option(help="Judge by this policy file.", metavar="FILE")] = None,
    json: Json = False,
) -> None:
    """Say what would happen to a request or a command, without doing anything.

    It is judged by your own policy and the project's, as far as you trust that, or by the one named. A
    command is judged as outside of any session; with --context sandbox as inside one, as an agent meets it.

    \b
    Examples:
      sekisho explain --http POST https://api.example/graphql --body-file q.json
      sekisho explain -- git push origin main
      sekisho explain --context sandbox -- ./deploy.sh
      sekisho explain --shell 'rm -rf build && make test' --context sandbox
    """
    chosen = [bool(command), shell is not None, http is not None, jsonl]
    if sum(chosen) != 1:
        raise Trouble(
            "give one of CMD, --shell, --http and --jsonl",
            instead="`sekisho explain --help` has examples",
            status=USAGE,
        )
    judged_by = judging(policy)
    if jsonl:
        _answer_lines(sys.stdin, judged_by, context)
        return
    if http is None and (header or body_file):
        raise Trouble("--header and --body-file are parts of a request", instead="give --http", status=USAGE)
    row = _row(command, shell, http, header or (), body_file)
    said = explained(row, judged_by.policy, context, judged_by.world)
    if http is not None:
        said = msgspec.structs.replace(said, notes=(*_taken(row, http[1], said.decision), *said.notes))
    print(jsonlib.dumps(answer(row, said)) if json else "\n".join(_lines(said)))


def _row(
    command: list[str] | None,
    shell: str | None,
    http: tuple[str, str] | None,
    headers: Iterable[str],
    body_file: Path | None,
) -> dict[str, Any]:
    if http is None:
        return {"command": shell} if shell is not None else {"argv": list(command or ())}
    row: dict[str, Any] = {"method": http[0], "url": _address(*http)}
    row["headers_list"] = [_header(text) for text in headers]
    if body_file is not None:
        import base64

        row["body"] = "base64:" + base64.b64encode(body_file.read_bytes()).decode()
    return row


def _taken(row: Mapping[str, Any], typed: str, decision: Decision) -> Iterator[str]:
    """What a request was taken for, where more could have been said."""
    if row["url"] != typed:
        yield f"taken as {row['url']}"
    bodied = row["method"].upper() not in BODYLESS and row["method"].upper() != "CONNECT"
    if bodied and "body" not in row and decision.verdict is not Verdict.ALLOW:
        yield "judged without a body, which may tell more: --body-file FILE"


def _address(method: str, url: str) -> str:
    """What is asked for; without a scheme it is https, as people write it."""
    if "://" in url or method.upper() == "CONNECT":
        return url
    if _BARE.fullmatch(url):
        return f"https://{url}"
    raise Trouble(
        f"{one_line(url)!r} names no host", instead="give it whole: https://HOST/PATH", status=USAGE
    )


def _header(text: str) -> list[str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise Trouble(f"--header {one_line(text)!r} has no colon", instead="NAME: VALUE", status=USAGE)
    return [name.strip(), value.strip()]


def _answer_lines(lines: Iterable[str], judged_by: Judging, place: Place) -> None:
    answered = False
    for line in lines:
        if line.strip():
            answered = True
            print(jsonlib.dumps(_answer_line(line, judged_by, place)), flush=True)
    if not answered:
        nothing("there was no row on standard input")


def _answer_line(line: str, judged_by: Judging, place: Place) -> dict[str, Any]:
    """One row's answer; a row that cannot be read is unknown and held, never a failure of the whole run."""
    row: Any = {}
    try:
        row = jsonlib.loads(line)
        # Where there is no policy, a table is about commands, not about the tools of one machine.
        every_tool = judged_by.world is None
        return answer(row, explained(row, judged_by.policy, place, judged_by.world, every_tool=every_tool))
    except Exception as error:
        return answer(row if isinstance(row, dict) else {}, unreadable(error, judged_by.policy))


def answer(row: Mapping[str, Any], said: Explained) -> dict[str, Any]:
    """The decision as scripts read it; `context` only of a command, `parts` and `notes` only where there is
    more than one, or any."""
    whole = _decision(said.decision) | {"effect": said.effect.value}
    more: dict[str, Any] = {} if said.place is None else {"context": said.place}
    if len(said.parts) > 1:
        more["parts"] = [_decision(part) for part in said.parts]
    if said.notes:
        more["notes"] = list(said.notes)
    return {"id": row.get("id"), **whole, **more}


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "effect": decision.action.effect.value,
        "verdict": decision.verdict.value,
        "gate": decision.gate.value,
        "code": decision.code,
        "reason": decision.reason,
        "instead": decision.instead,
        "target": decision.action.target,
        "rules": [{"source": r.source, "rule": r.rule, "says": str(r.says)} for r in decision.rules],
    }


def _lines(said: Explained) -> list[str]:
    decision = said.decision
    action = decision.action
    lines = [
        f"{decision.verdict} (gate {decision.gate}, effect {said.effect}, code {decision.code or '-'})",
        f"  {_act(action)}",
        f"  why: {one_line(decision.reason)}",
    ]
    if decision.instead:
        lines.append(f"  next: {one_line(decision.instead)}")
    if said.place is not None:
        lines.append(f"  context: {CONTEXTS[said.place]}")
    lines += [f"  rule: {one_line(r.rule)} says {r.says} ({one_line(r.source)})" for r in decision.rules]
    lines += [f"  note: {one_line(note)}" for note in said.notes]
    return lines + (_parts(said.parts) if len(said.parts) > 1 else [])


def _act(action: Action) -> str:
    """Verb and target, once where the target says it all."""
    verb, target = one_line(action.verb), one_line(action.target)
    return target if f"{target} ".startswith(f"{verb} ") else f"{verb} {target}"


def _parts(parts: Sequence[Decision]) -> list[str]:
    said = (f"  {part.verdict}: {_act(part.action)}: {one_line(part.reason)}" for part in parts)
    return ["  its parts:", *(f"  {line}" for line in dict.fromkeys(said))]


__all__ = ["answer", "app"]
