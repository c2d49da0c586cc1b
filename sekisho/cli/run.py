"""`sekisho run`: one session."""

import os
from collections.abc import Callable
from pathlib import Path

import typer

from sandbox.spec import Limits
from sekisho.cli import run_options as given
from sekisho.cli import starting
from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.owner import become_owner
from sekisho.core.display import one_line
from sekisho.core.units import duration, size

app = typer.Typer(rich_markup_mode=None, add_completion=False)


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
      sekisho run --handoff task.md --timeout 2h -- \\
        sh -c 'claude -p "do what $SEKISHO_HANDOFF says"'
    """
    _have_standard_descriptors()
    _check_command(command)
    become_owner(starting.here())
    if in_place and from_session:
        raise Trouble("--in-place and --from exclude each other", status=USAGE)
    _check_files(handoff, record)
    asked = starting.Asked(
        argv=tuple(command),
        policy=policy,
        handoff=handoff,
        continues=from_session,
        wait=_read("--wait", wait, duration) or 0.0,
        limits=_limits(timeout, memory, pids, cpus),
        record=record,
        backend=backend,
        image=image,
        in_place=in_place,
    )
    ended = starting.run(asked)
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


def _limits(timeout: str | None, memory: str | None, pids: int | None, cpus: float | None) -> Limits:
    time, most = _read("--timeout", timeout, duration), _read("--memory", memory, size)
    return Limits(time=time, memory=most, pids=pids, cpus=cpus)


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


def _read[T](option: str, text: str | None, reader: Callable[[str], T]) -> T | None:
    try:
        return None if text is None else reader(text)
    except ValueError as error:
        raise Trouble(
            f"{option} {one_line(text or '')} cannot be used", why=str(error), status=USAGE
        ) from error
