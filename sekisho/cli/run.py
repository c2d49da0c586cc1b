"""`sekisho run`: one session."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer

from sekisho.cli import run_options as given
from sekisho.cli.errors import GATE_BROKEN, USAGE, Trouble
from sekisho.cli.opening import opened
from sekisho.cli.owner import become_owner
from sekisho.cli.policies import chosen_policy
from sekisho.core.display import one_line
from sekisho.core.units import duration, size
from sekisho.store.store import Store

if TYPE_CHECKING:
    from sandbox.errors import EnclosureError
    from sandbox.spec import Limits
    from sekisho.session.launch import Ended
    from sekisho.session.request import Request
    from sekisho.session.settings import Pinned

app = typer.Typer(rich_markup_mode=None, add_completion=False)

NOTHING_RAN = "nothing was run; there is no weaker way to run it"


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    command: given.Command,
    policy: given.Policy = None,
    handoff: given.Handoff = None,
    from_session: given.From = None,
    wait: given.Wait = None,
    timeout: given.Timeout = None,
    memory: given.Memory = None,
    pids: given.Pids = None,
    cpus: given.Cpus = None,
    record: given.Record = None,
    backend: given.Backend = None,
    image: given.Image = None,
    in_place: given.InPlace = False,
    json: given.Json = False,
) -> None:
    """Run CMD in a sandbox, on a clone of this repository or, with --in-place, in this very tree.

    Reads pass, local work goes on. Pushes and other writes outside are held; decide about them with
    `sekisho approvals`, during the session or days later. The exit status is that of CMD; 69: it could
    not be enclosed and was not run; 124: the time limit; 2: usage, or a policy that cannot be used.

    Of each limit here and in the policy the stricter one holds. On a terminal what CMD prints is recorded,
    what is typed is not. As root in somebody else's repository it first becomes that person.

    \b
    Examples:
      sekisho run -- bash
      sekisho run --handoff task.md --timeout 2h -- sh -c 'claude -p "do what $SEKISHO_HANDOFF says"'
    """
    _have_standard_descriptors()
    _check_command(command)
    become_owner(Path.cwd())
    from sekisho.session.request import Request

    project = top_level(Path.cwd())
    limits = _limits(timeout, memory, pids, cpus)
    _check_files(handoff, record)
    if in_place and from_session:
        raise Trouble("--in-place and --from exclude each other", status=USAGE)
    with opened() as store:
        pinned = _policy(store, project, policy)
        continues = _continued(store, from_session)
        request = Request(
            argv=tuple(command),
            project=project,
            folder=Path.cwd(),
            pinned=pinned,
            handoff=handoff or _earlier_handoff(store, continues),
            continues=continues,
            wait=_read("--wait", wait, duration) or 0.0,
            from_ref=f"refs/sekisho/{continues}/tree" if continues else None,
            limits=limits,
            record=record,
            in_place=in_place,
        )
        wanted = backend or pinned.policy.sandbox.backend
        ended = _run(store, request, wanted, image or pinned.policy.sandbox.image)
    from sekisho.cli.ending import report_end
    from sekisho.session.signals import keeping

    with keeping():
        report_end(ended, json=json)
    raise typer.Exit(ended.status)


def _check_command(command: list[str]) -> None:
    """Before anything is made. Raises Trouble."""
    if not command[0] or command[0].startswith("-"):
        raise Trouble(
            f"{one_line(command[0])!r} cannot be a command",
            why="a command has a name that begins with no dash",
            instead="options of sekisho stand before --, CMD and its own options after it",
            status=USAGE,
        )


def _limits(timeout: str | None, memory: str | None, pids: int | None, cpus: float | None) -> "Limits":
    from sandbox.spec import Limits

    time, most = _read("--timeout", timeout, duration), _read("--memory", memory, size)
    return Limits(time=time, memory=most, pids=pids, cpus=cpus)


def _with_backend(request: "Request", wanted: str, image: str | None) -> "Request":
    """The request with what encloses it, which is told with its reason. Raises EnclosureError."""
    from sandbox.backend import choose
    from sekisho.store.paths import state_dir

    chosen = choose(wanted, image=image, project=request.project, state=state_dir())
    for said in (f"enclosed by {chosen.name}: {chosen.why}", *chosen.notes):
        print(f"sekisho: {one_line(said)}", file=sys.stderr, flush=True)
    return msgspec.structs.replace(request, backend=chosen)


def _policy(store: Store, project: Path, named: Path | None) -> "Pinned":
    try:
        return chosen_policy(store, project, named)
    except EOFError as error:
        raise Trouble(
            "the policy was not trusted: there was no answer", why=NOTHING_RAN, status=USAGE
        ) from error


def _run(store: Store, request: "Request", wanted: str, image: str | None) -> "Ended":
    """In auto, bwrap is simply tried: looking first would cost every start what few ever need."""
    from sandbox.backend import bwrap_hindrance
    from sandbox.errors import EnclosureError
    from sandbox.workspace.model import WorkspaceError
    from sekisho.session.launch import run as run_session
    from sekisho.session.signals import Interrupted

    try:
        if wanted != "auto" or image is not None:
            request = _with_backend(request, wanted, image)
        try:
            return run_session(store, request)
        except EnclosureError:
            if wanted != "auto" or image is not None or bwrap_hindrance() is None:
                raise
            return run_session(store, _with_backend(request, wanted, image))
    except EnclosureError as error:
        raise _not_enclosed(error, by_bwrap=wanted != "docker" and image is None) from error
    except WorkspaceError as error:
        raise Trouble(str(error), why=NOTHING_RAN, status=USAGE) from error
    except Interrupted as error:
        raise Trouble(str(error), why="the command had not begun", status=error.status) from error


def _not_enclosed(error: "EnclosureError", *, by_bwrap: bool) -> Trouble:
    """With the first thing to change on this machine, where looking at it shows one."""
    from sandbox.check import failed, preflight

    found = failed(preflight()) if by_bwrap else []
    told = error.instead
    if found:
        told = f"{found[0].name}: {found[0].detail.removesuffix('.')}. {found[0].instead}"
    return Trouble(error.what, why=NOTHING_RAN, instead=told, status=GATE_BROKEN)


def _have_standard_descriptors() -> None:
    """Where one was closed, /dev/null: else the next file we open takes its number, and would be fed to
    the command or written into."""
    while (fd := os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)) <= 2:
        continue
    os.close(fd)


def _check_files(handoff: Path | None, record: Path | None) -> None:
    if handoff is not None and not (handoff.is_file() and os.access(handoff, os.R_OK)):
        raise Trouble(f"--handoff {one_line(str(handoff))}: there is no such file to be read", status=USAGE)
    if record is None:
        return
    if not (os.isatty(0) and os.isatty(1)):
        raise Trouble("--record: there is no terminal to record", status=USAGE)
    if os.path.lexists(record) or not os.access(record.parent, os.W_OK):
        raise Trouble(f"--record {one_line(str(record))}: it exists, or cannot be made", status=USAGE)


def top_level(folder: Path) -> Path:
    """The top of the working tree that `folder` lies in."""
    from sandbox.workspace.git import attempt
    from sandbox.workspace.source import ASTRAY, answers, at_home

    questions = ("--show-toplevel", "--absolute-git-dir")
    try:
        done = attempt(folder, "rev-parse", *questions)
    except OSError as error:
        raise Trouble("git could not be run", why=str(error), status=GATE_BROKEN) from error
    if done.returncode:
        raise _no_tree(folder, done.stderr.decode(errors="replace").strip())
    top, git_dir = answers(folder, done.stdout, questions)
    if not at_home(top, git_dir):
        why = f"{ASTRAY}: {one_line(git_dir)}"
        raise Trouble(f"{one_line(top)} is not worked in", why=why, instead=_ELSEWHERE, status=USAGE)
    return Path(top)


_ELSEWHERE = "go to a working tree with a .git of its own; `git clone` and that folder makes one"


# (part of what git says, what is the matter with the folder, what to do)
_GIT_SAYS = (
    (
        "dubious ownership",
        "belongs to somebody else, so git does not use it for you",
        "work as its owner, or, if you trust them, by the command that git names",
    ),
    (
        "must be run in a work tree",
        "has no working tree: it is a bare repository, or a repository's own folder",
        "go to its working tree, or make one with `git clone` and that folder",
    ),
    (
        "cannot use bare repository",
        "has no working tree: a bare repository, a repository's own folder, or files that look like one",
        "go to its working tree, or make one with `git clone` and that folder",
    ),
    ("not a git repository", "is in no git repository", "go to a repository, or make one with `git init`"),
)


def _no_tree(folder: Path, said: str) -> Trouble:
    what, instead = next(
        ((what, instead) for part, what, instead in _GIT_SAYS if part in said),
        ("cannot be used by git", "mend what git says first"),
    )
    return Trouble(f"{one_line(str(folder))} {what}", why=said, instead=instead, status=USAGE)


def _continued(store: Store, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return store.sessions.find(text).id
    except LookupError as error:
        raise Trouble(
            f"--from: {error}", instead="`sekisho sessions list` shows the ids", status=USAGE
        ) from error


def _earlier_handoff(store: Store, session: str | None) -> Path | None:
    return store.sessions.folder(session).handoff_markdown if session else None


def _read[T](option: str, text: str | None, reader: Callable[[str], T]) -> T | None:
    try:
        return None if text is None else reader(text)
    except ValueError as error:
        raise Trouble(
            f"{option} {one_line(text or '')} cannot be used", why=str(error), status=USAGE
        ) from error
