"""`sekisho policy`: a project's policy file."""

import getpass
import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sekisho.cli.errors import USAGE, Trouble
from sekisho.cli.opening import opened
from sekisho.cli.policies import chosen_policy, unusable
from sekisho.cli.trees import top_level
from sekisho.core.problem import PolicyError, Problem
from sekisho.session.settings import PROJECT_FILE, Layer, encode, person_layer, read_layer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Make, check, show and trust a project's policy.",
)
File = Annotated[
    Path | None,
    typer.Argument(help=f"The file; by default {PROJECT_FILE} of this repository.", metavar="FILE"),
]

TEMPLATE = """version = 1

# Refs that are never forced or deleted.
[project]
protected = ["main", "release/*"]

[git]
# The most specific rule decides; force and delete are never "auto".
push = [ { ref = "*", gate = "human" } ]

[network]
# "read": reads anywhere; "listed": only the hosts below; "gated": everything waits.
default = "read"

# [[network.rule]]
# host = "api.example.com"
# method = "POST"
# path = "/v1/render"
# effect = "read"
# examples = { match = ["POST https://api.example.com/v1/render"] }
"""


@app.command()
def init() -> None:
    """Write a commented policy file into this repository."""
    path = top_level(Path.cwd()) / PROJECT_FILE
    try:
        with path.open("x") as file:
            file.write(TEMPLATE)
    except FileExistsError as error:
        raise Trouble(
            f"{path} exists already", instead="`sekisho policy check` reads it", status=USAGE
        ) from error
    print(f"wrote {path}\nread it, change it, then: sekisho policy trust")


@app.command(short_help="Read a policy file and report every problem by file and line.")
def check(file: File = None) -> None:
    """Read a policy file and report every problem by file, line and the nearest right name.

    Without FILE it is this repository's, and your own config is looked at besides.
    """
    if file is None:
        try:
            person_layer()
        except PolicyError as error:
            raise unusable(error) from error
    layer = _layer(file)
    _check_mounts(layer)
    print(f"{layer.path}: fine ({layer.digest})")


def _check_mounts(layer: Layer) -> None:
    """As a session looks at them when it starts; which folders are there differs from machine to machine."""
    from sandbox.toolchain import missing
    from sekisho.core.layout import key_lines

    home, lines = str(Path.home()), key_lines(layer.text.decode())
    refused = []
    for number, path in enumerate(layer.policy.sandbox.mount):
        problem = partial(Problem, file=str(layer.path), line=lines.get(("sandbox", "mount", number), 0))
        try:
            if missing((path,), home):
                print(problem(message=f"mount {path!r}: it is not there, and left out"), file=sys.stderr)
        except ValueError as error:
            refused.append(problem(message=str(error), hint="no session starts with it"))
    if refused:
        raise unusable(PolicyError(tuple(refused)))


@app.command()
def show(
    file: Annotated[
        Path | None, typer.Option("--policy", help="A policy file instead of the project's.", metavar="FILE")
    ] = None,
) -> None:
    """Print the merged policy of this project as JSON."""
    import msgspec

    with opened() as store:
        pinned = chosen_policy(store, top_level(Path.cwd()), file)
    print(msgspec.json.format(encode(pinned.policy)).decode())


@app.command(short_help="Show a policy file and trust it as it stands.")
def trust(
    file: File = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; you have read it.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust it no longer, whatever it says.")] = False,
) -> None:
    """Show a policy file and trust it as it stands; a later change has to be trusted again.

    Of one that was trusted before, what has changed is shown, where a commit has the former version.
    """
    if revoke:
        _revoke(_path(file))
        return
    layer = _layer(file)
    with opened() as store:
        last = store.trust.last(layer.path)
    if last is not None and last.digest == layer.digest:
        print(f"{layer.path} is trusted already as it stands ({layer.digest})")
        return
    if not yes:
        from sekisho.cli.former import show_to_trust

        show_to_trust(layer, last)
        if not sys.stdin.isatty():
            raise Trouble(
                "there is nobody to ask", instead="run it on a terminal, or with --yes", status=USAGE
            )
        typer.confirm("Trust it as it stands?", abort=True)
    with opened() as store:
        store.trust.trust(layer.path, layer.digest, getpass.getuser())
    print(f"{layer.path} is trusted as it stands ({layer.digest})")


def _revoke(path: Path) -> None:
    with opened() as store:
        was = store.trust.distrust(path, getpass.getuser())
    print(f"{path} is trusted no longer" if was else f"{path} was not trusted")
    if was:
        print("sessions that run keep the policy they started with, until they end")


@app.command()
def schema() -> None:
    """Print the JSON Schema of policy files, for editors."""
    import json

    from sekisho.core.schema import schema as policy_schema

    print(json.dumps(policy_schema(), indent=2))


def _path(file: Path | None) -> Path:
    return file or top_level(Path.cwd()) / PROJECT_FILE


def _layer(file: Path | None) -> Layer:
    if file is None and not os.path.lexists(_path(None)):
        raise Trouble(
            f"this repository has no {PROJECT_FILE}",
            instead="`sekisho policy init` writes one; without one, the built-in policy counts and yours",
            status=USAGE,
        )
    try:
        return read_layer(_path(file))
    except PolicyError as error:
        raise unusable(error) from error
