"""Which policy a command works under, and whether it may be used."""

import getpass
import sys
from pathlib import Path

from sekisho.cli.errors import USAGE, Trouble
from sekisho.core.problem import PolicyError
from sekisho.session.settings import Layer, Pinned, person_layer, pin, project_layer, read_layer
from sekisho.store.store import Store


def chosen_policy(store: Store, project: Path, named: Path | None) -> Pinned:
    """The pinned policy of a session: built in, the person's, and the project's or the named one.

    The project's own file must be trusted as it stands: on a terminal it is shown and asked about.
    Raises Trouble with status 2.
    """
    try:
        person = person_layer()
        layer = read_layer(named) if named is not None else project_layer(project)
        if layer is not None and named is None:
            _require_trust(store, layer)
        return pin(person, layer)
    except PolicyError as error:
        raise unusable(error) from error


def unusable(error: PolicyError) -> Trouble:
    """A policy that cannot be used, with every problem in it."""
    return Trouble("the policy cannot be used", why="\n       ".join(map(str, error.problems)), status=USAGE)


def _require_trust(store: Store, layer: Layer) -> None:
    if store.trust.is_trusted(layer.path, layer.digest):
        return
    if not _asked(store, layer):
        raise Trouble(
            f"{layer.path} is not trusted as it stands",
            why="a policy can open the gate, so a changed one counts only after a person has read it",
            instead=f"read it, then run `sekisho policy trust {layer.path}`",
            status=USAGE,
        )
    store.trust.trust(layer.path, layer.digest, getpass.getuser())


def _asked(store: Store, layer: Layer) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    from sekisho.cli.former import show_to_trust

    show_to_trust(layer, store.trust.last(layer.path))
    return input("Trust it as it stands? [y/N]: ").strip().lower() in ("y", "yes")
