"""`sekisho explain`: the verdict about a request or a command, and every rule that matched."""

import json as jsonlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from netpolicy.explain import observe_row
from netpolicy.world import of_policy
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.policies import unusable
from sekisho.core.action import Action, Effect
from sekisho.core.display import one_line
from sekisho.core.load import PolicyError
from sekisho.core.policy import BUILTIN, Policy
from sekisho.core.verdict import Context, Decision, judge

app = typer.Typer(rich_markup_mode=None)
Place = Literal["sandbox", "host"]


@app.command(context_settings={"allow_interspersed_args": False})
def explain(
    command: Annotated[
        list[str] | None, typer.Argument(help="A command, after --.", metavar="CMD...")
    ] = None,
    shell: Annotated[str | None, typer.Option(help="A command line as given to bash -c.")] = None,
    http: Annotated[tuple[str, str] | None, typer.Option(help="A request.", metavar="METHOD URL")] = None,
    header: Annotated[list[str] | None, typer.Option(help="A header of it, NAME: VALUE; repeatable.")] = None,
    body_file: Annotated[Path | None, typer.Option(help="A file with its body.", exists=True)] = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read rows from stdin, answer one line each.")
    ] = False,
    context: Annotated[Place, typer.Option(help="Where a command would run.")] = "host",
    policy: Annotated[Path | None, typer.Option(help="Judge by this policy file.", metavar="FILE")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Say what would happen to a request or a command, without doing anything.

    Examples:
      sekisho explain --http POST https://api.github.com/graphql --body-file query.json
      sekisho explain -- git push origin main
      sekisho explain --shell 'rm -rf build && make test' --context sandbox
    """
    chosen = [bool(command), shell is not None, http is not None, jsonl]
    if sum(chosen) != 1:
        raise Trouble("give one of CMD, --shell, --http and --jsonl", status=USAGE)
    judged_by = _policy(policy)
    if jsonl:
        for line in sys.stdin:
            if line.strip():
                print(
                    jsonlib.dumps(_answer_line(line, judged_by, context, named=policy is not None)),
                    flush=True,
                )
        return
    row = _row(command, shell, http, header or (), body_file)
    decision = decide(row, judged_by, context, own_world=policy is not None)
    print(jsonlib.dumps(answer(row, decision)) if json else "\n".join(_lines(decision)))


def _row(
    command: list[str] | None,
    shell: str | None,
    http: tuple[str, str] | None,
    headers: Iterable[str],
    body_file: Path | None,
) -> dict[str, Any]:
    if http is None:
        return {"command": shell} if shell is not None else {"argv": list(command or ())}
    row: dict[str, Any] = {"method": http[0], "url": http[1]}
    row["headers_list"] = [_header(text) for text in headers]
    if body_file is not None:
        import base64

        row["body"] = "base64:" + base64.b64encode(body_file.read_bytes()).decode()
    return row


def _header(text: str) -> list[str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise Trouble(f"--header {one_line(text)!r} has no colon", instead="NAME: VALUE", status=USAGE)
    return [name.strip(), value.strip()]


def _policy(file: Path | None) -> Policy:
    if file is None:
        return BUILTIN
    from sekisho.session.settings import person_layer, pin, read_layer

    try:
        return pin(person_layer(), read_layer(file)).policy
    except PolicyError as error:
        raise unusable(error) from error


def decide(row: Mapping[str, Any], policy: Policy, place: Place, *, own_world: bool) -> Decision:
    """The decision about a row of the cases' form (`argv` besides `command` and `method` with `url`)."""
    if "command" in row or "argv" in row:
        return judge(_command(row, place), policy, Context(checkpointed=place == "sandbox"))
    return judge(observe_row(row, of_policy(policy) if own_world else None), policy)


def _command(row: Mapping[str, Any], place: Place) -> Action:
    from shim.context import Context as CommandContext
    from shim.context import Place as CommandPlace
    from shim.facts import WorkingFiles
    from shim.observe import observe, observe_shell

    folder = str(row.get("cwd") or os.getcwd())
    seen = CommandContext(cwd=folder, place=CommandPlace(place), files=WorkingFiles(folder))
    if "command" in row:
        return observe_shell(str(row["command"]), seen)
    return observe(tuple(map(str, row["argv"])), seen)


def _answer_line(line: str, policy: Policy, place: Place, *, named: bool) -> dict[str, Any]:
    """One row's answer; a row that cannot be read is unknown and held, never a failure of the whole run."""
    row: Any = {}
    try:
        row = jsonlib.loads(line)
        return answer(row, decide(row, policy, place, own_world=named))
    except Exception as error:
        reason = f"the row cannot be judged: {type(error).__name__}: {error}"
        action = Action(verb="row", target="", effect=Effect.UNKNOWN, code="row-unreadable", reason=reason)
        return answer(row if isinstance(row, dict) else {}, judge(action, policy))


def answer(row: Mapping[str, Any], decision: Decision) -> dict[str, Any]:
    """The decision as scripts read it."""
    return {
        "id": row.get("id"),
        "effect": decision.action.effect.value,
        "verdict": decision.verdict.value,
        "gate": decision.gate.value,
        "code": decision.code,
        "reason": decision.reason,
        "instead": decision.instead,
        "target": decision.action.target,
        "rules": [{"source": r.source, "rule": r.rule, "says": str(r.says)} for r in decision.rules],
    }


def _lines(decision: Decision) -> list[str]:
    action = decision.action
    said = [
        f"{decision.verdict} (gate {decision.gate}, effect {action.effect}, code {decision.code or '-'})",
        f"  {one_line(action.verb)} {one_line(action.target)}",
        f"  why: {one_line(decision.reason)}",
    ]
    if decision.instead:
        said.append(f"  next: {one_line(decision.instead)}")
    return said + [f"  rule: {one_line(r.rule)} says {r.says} ({one_line(r.source)})" for r in decision.rules]


__all__ = ["answer", "app", "decide"]
