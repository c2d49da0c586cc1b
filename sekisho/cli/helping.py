"""How every command shows what it takes."""

from typing import Any

import typer
from typer.core import TyperCommand


class Command(TyperCommand):
    """`run [OPTIONS] CMD...`: typer puts what is required into braces, which no shell's manual does."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [_bare(piece) for piece in super().collect_usage_pieces(ctx)]


def _bare(piece: str) -> str:
    return piece[1:-1] if piece.startswith("{") and piece.endswith("}") else piece


def command_of(app: typer.Typer) -> Any:
    """The click command of a typer app, each of its commands shown the same way."""
    for info in app.registered_commands:
        info.cls = Command
    return typer.main.get_command(app)
