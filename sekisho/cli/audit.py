"""`sekisho audit`: the journal."""

import time
from collections.abc import Iterable
from typing import Annotated

import typer

from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.opening import opened
from sekisho.cli.show import local, nothing
from sekisho.core.display import one_line
from sekisho.core.units import duration
from sekisho.store.records import Record
from sekisho.store.text import to_json

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="The journal: what happened, sealed record by record.",
)
EMPTY = "the journal has no records yet"
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


@app.command()
def tail(
    count: Annotated[int, typer.Option("-n", "--lines", help="How many records.", metavar="N", min=1)] = 20,
    json: Json = False,
) -> None:
    """Print the last records, oldest first."""
    with opened() as store:
        found = store.journal.tail(count)
    _print(found, json)
    if not found:
        nothing(EMPTY)


@app.command()
def query(
    session: Annotated[str | None, typer.Option(help="Only one session.", metavar="ID")] = None,
    kind: Annotated[
        str | None, typer.Option(help="A kind and what is below it: hold, act, hold.created.", metavar="KIND")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only the last 2h, 3d.", metavar="TIME")] = None,
    json: Json = False,
) -> None:
    """Print the records that fit."""
    try:
        start = None if since is None else time.time() - duration(since)
    except ValueError as error:
        raise Trouble(f"--since {since!r} is no duration", why=str(error), status=USAGE) from error
    with opened() as store:
        found = store.journal.query(session=session, kind=kind, since=start)
    _print(found, json)
    if not found:
        nothing("no record fits")


@app.command(short_help="Check every seal; exit status 1 if a record is not as it was.")
def verify() -> None:
    """Check every seal: a changed, missing, reordered or cut record is named. Exit status 1 if one is."""
    with opened() as store:
        findings = store.journal.verify()
        last = store.journal.tail(1)
    for finding in findings:
        print(f"record {finding.seq} {finding.kind}: {finding.problem}: {finding.message}")
    if findings:
        raise typer.Exit(1)
    print(f"the journal is whole ({last[-1].seq if last else 0} records)")


@app.command()
def export() -> None:
    """Print every record as JSON lines."""
    with opened() as store:
        printed = False
        for line in store.journal.export():
            print(line)
            printed = True
    if not printed:
        nothing(EMPTY)


def _print(records: Iterable[Record], json: bool) -> None:
    for record in records:
        if json:
            print(to_json(record))
        else:
            place = f"{record.seq:6} {local(record.time)} {record.session:12} {record.kind:18}"
            print(f"{place} {one_line(record.subject)}")
