"""`sekisho demo`: the whole story, for real, on throw-away parts."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from sekisho.cli.errors import Trouble
from sekisho.cli.show import tone
from sekisho.demo.stage import Stage, set_up

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the folder with everything in it.")] = False,
) -> None:
    """See the whole story on a throw-away repository and upstream.

    An agent fetches, reads, edits, tests, commits, pushes and posts. The reads pass; the push and the POST
    are held, shown, approved, and executed exactly once. The upstream's own log is the proof. Nothing of
    yours is touched, nothing leaves this machine.
    """
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sekisho-demo-", delete=not keep) as folder:
        with set_up(Path(folder)) as stage:
            _play(stage)
        if keep:
            print(f"\neverything is kept in {folder}")
    print(
        f"\nThat was all of it, in {time.monotonic() - started:.0f} seconds. Next, in a repository of yours:"
    )
    print(f"  {own_command(sys.executable, os.environ.get('PATH', ''))} run -- bash")


def own_command(python: str, path: str) -> str:
    """How this very installation is called in the person's shell, as shell text.

    The environment's own folder is looked past once: `make demo` puts it before PATH for its child alone.
    """
    own = Path(python).parent
    folders = path.split(os.pathsep)
    if str(own) in folders:
        folders.remove(str(own))
    found = shutil.which("sekisho", path=os.pathsep.join(folders))
    if found is not None and os.path.realpath(found) == os.path.realpath(own / "sekisho"):
        return "sekisho"
    if os.access(own / "sekisho", os.X_OK):
        return shlex.quote(str(own / "sekisho"))
    return f"{shlex.quote(python)} -m sekisho"


def _play(stage: Stage) -> None:
    _title("1. An agent works unattended: sekisho run -- sh agent.sh")
    session = _session(stage)
    _title("2. What the upstream saw so far: reads, and not one write")
    _upstream(stage)
    _title("3. What waits for a person: sekisho approvals list")
    _say(stage, "approvals", "list")
    holds = json.loads(_ask(stage, "approvals", "list", "--json").stdout)
    _expect(len(holds) == 2, "a push and a POST are held")
    _title(f"4. One of them in full: sekisho approvals show {holds[0]['id']}")
    _say(stage, "approvals", "show", holds[0]["id"])
    _title("5. The person says yes, and only then it is sent: sekisho approvals approve ID")
    for hold in holds:
        _say(stage, "approvals", "approve", hold["id"])
    _title("6. The same approval again: it has been used")
    again = _ask(stage, "approvals", "approve", holds[0]["id"], good=False)
    print(_indented(again.stdout), end="")
    _title("7. What the upstream saw in the end: each write exactly once")
    _upstream(stage)
    writes = stage.upstream.journal.writes()
    _expect(sum("git-receive-pack" in str(w["path"]) for w in writes) >= 1, "the push arrived")
    _expect(sum(w["name"] == "api.test" for w in writes) == 1, "the POST arrived once")
    _title("8. The journal, sealed record by record: sekisho audit verify")
    _say(stage, "audit", "verify")
    _title(f"9. The work itself is here: sekisho sessions apply {session}")
    _say(stage, "sessions", "apply", session)


def _session(stage: Stage) -> str:
    done = _ask(
        stage, "run", "--policy", str(stage.policy), "--json", "--", "sh", "-c", stage.agent.read_text()
    )
    *shown, last = done.stdout.splitlines()
    print(_indented("\n".join(shown)), end="")
    return str(json.loads(last)["session"])


def _upstream(stage: Stage) -> None:
    for entry in stage.upstream.journal.requests():
        user = f" as {entry['user']}" if entry.get("user") else ""
        print(f"  upstream  {entry['status']} {entry['method']:5} {entry['name']}{entry['path']}{user}")


def _say(stage: Stage, *words: str) -> None:
    print(_indented(_ask(stage, *words).stdout), end="")


def _ask(stage: Stage, *words: str, good: bool = True) -> "subprocess.CompletedProcess[str]":
    done = stage.sekisho(*words)
    if (done.returncode == 0) != good:
        raise Trouble(
            f"the demo stopped at: sekisho {words[0]} {words[1] if len(words) > 1 else ''}",
            why=done.stdout.strip(),
            instead="`sekisho demo --keep` keeps everything, logs included",
            status=done.returncode or 1,
        )
    return done


def _expect(true: bool, what: str) -> None:
    if not true:
        raise Trouble(f"the demo did not go as it must: {what}: no", instead="please report this")


def _title(text: str) -> None:
    print(f"\n{tone(text, '1')}", flush=True)


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())
