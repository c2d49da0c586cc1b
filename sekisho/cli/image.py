"""`sekisho image`: the images that --backend docker runs."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekisho.cli.errors import GATE_BROKEN, USAGE, Trouble
from sekisho.cli.options import Json
from sekisho.cli.show import print_json, table
from sekisho.core.display import one_line

if TYPE_CHECKING:
    from images.variants import Variant
    from sandbox.docker.engine import Engine

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False)


@app.callback()
def image() -> None:
    """Make and list the images that sessions with --backend docker run in.

    What is in them is said by lists of packages and by Dockerfiles in the folder `images` of the
    installation. Tools for mail, browsers, ssh and deployment are in none of them.
    """


@app.command()
def build(
    variant: Annotated[
        str, typer.Option(help="Which one; see `sekisho image list`.", metavar="NAME")
    ] = "base",
    from_packages: Annotated[
        bool, typer.Option("--from-packages", help="From Debian packages (mmdebstrap), no public image.")
    ] = False,
    tag: Annotated[str | None, typer.Option(help="The image's name.", metavar="NAME")] = None,
    packages: Annotated[
        list[Path] | None, typer.Option(help="A list of packages to be added, one a line.", metavar="FILE")
    ] = None,
    build_arg: Annotated[
        list[str] | None, typer.Option(help="An argument of the Dockerfile.", metavar="NAME=VALUE")
    ] = None,
    network: Annotated[
        str | None, typer.Option(help="The network of the Dockerfile's steps.", metavar="NAME")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="The release that packages are from.", metavar="NAME")
    ] = None,
    mirror: Annotated[str | None, typer.Option(help="Where packages are from.", metavar="URL")] = None,
) -> None:
    """Build an image. The same lists and packages give the same digest with --from-packages.

    An image of an agent's client is made by its Dockerfile in any case, on top of the image before it.

    \b
    Examples:
      sekisho image build --from-packages
      sekisho image build --variant claude-code --build-arg VERSION=2.1.0
    """
    from images.build import Wanted
    from images.variants import SUITE

    chosen = _variant(variant)
    wanted = Wanted(
        variant=chosen,
        tag=tag or chosen.tag,
        extra=tuple(packages or ()),
        arguments=_arguments(build_arg or []),
        network=network,
        suite=suite or SUITE,
        mirror=mirror,
    )
    began = time.monotonic()
    identity = _build(wanted, from_packages)
    print(f"{wanted.tag} {identity} ({time.monotonic() - began:.0f} s)")


def _build(wanted: Any, from_packages: bool) -> str:
    from images import build as building
    from sandbox.docker.engine import connect
    from sandbox.errors import EnclosureError

    try:
        engine = connect()
        if from_packages and wanted.variant.lists:
            return building.from_packages(engine, wanted, _say)
        return building.from_dockerfile(engine, wanted, _say)
    except EnclosureError as error:
        raise Trouble(error.what, instead=error.instead, status=GATE_BROKEN) from error
    except (OSError, ValueError) as error:
        raise Trouble(f"the package lists: {error}", status=USAGE) from error


def _say(line: str) -> None:
    print(one_line(line))


def _variant(name: str) -> "Variant":
    from images.variants import VARIANTS

    if name not in VARIANTS:
        raise Trouble(
            f"there is no variant {one_line(name)}", instead=f"one of {', '.join(VARIANTS)}", status=USAGE
        )
    return VARIANTS[name]


def _arguments(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for (name, equals, _), word in zip(pairs, words, strict=True):
        if not name or not equals:
            raise Trouble(f"--build-arg {one_line(word)} is not NAME=VALUE", status=USAGE)
    return {name: value for name, _, value in pairs}


@app.command("list")
def list_images(json: Json = False) -> None:
    """Show which images there can be, and which of them are built."""
    from images.variants import VARIANTS
    from sandbox.docker.engine import connect
    from sandbox.errors import EnclosureError

    try:
        engine = connect()
        rows = [_row(engine, variant) for variant in VARIANTS.values()]
    except EnclosureError as error:
        raise Trouble(error.what, instead=error.instead, status=GATE_BROKEN) from error
    if json:
        print_json(rows)
        return
    table(
        ("VARIANT", "NAME", "BUILT", "WHAT IS IN IT"),
        ((row["variant"], row["tag"], (row["id"] or "")[7:19] or "-", row["summary"]) for row in rows),
    )


def _row(engine: "Engine", variant: "Variant") -> dict[str, Any]:
    from sandbox.docker.engine import inspect
    from sandbox.errors import EnclosureError

    try:
        found = inspect(engine, variant.tag).id
    except EnclosureError as error:
        if error.code not in ("image-missing", "image-architecture"):
            raise
        found = None
    return {"variant": variant.name, "tag": variant.tag, "id": found, "summary": variant.summary}
