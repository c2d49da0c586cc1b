"""Which policy `explain` judges by: the one that a session here would have, as far as it may be used."""

import os
import sys
from pathlib import Path

import msgspec

from netpolicy.world import World, of_policy
from sekisho.cli.errors import Trouble
from sekisho.cli.opening import opened
from sekisho.cli.policies import unusable
from sekisho.core.display import one_line
from sekisho.core.policy import BUILTIN, Policy
from sekisho.core.problem import PolicyError
from sekisho.session.registries import profiles
from sekisho.session.settings import PROJECT_FILE, Layer, person_layer, pin, project_layer, read_layer


class Judging(msgspec.Struct, frozen=True, kw_only=True):
    """A policy, and the world of a session under it. None, where nobody wrote any policy: then every provider
    and the usual indexes are in it."""

    policy: Policy
    world: World | None = None


def judging(named: Path | None) -> Judging:
    """The person's own policy with the named one or, where it is trusted, the project's. Raises Trouble."""
    try:
        person = person_layer()
        layer = read_layer(named) if named is not None else _trusted(Path.cwd())
        if person is None and layer is None:
            return Judging(policy=BUILTIN)
        policy = pin(person, layer).policy
        return Judging(policy=policy, world=of_policy(policy, profiles=profiles(Path.home(), os.environ)))
    except PolicyError as error:
        raise unusable(error) from error


def _trusted(folder: Path) -> Layer | None:
    """The policy of the repository around a folder; where it is not trusted, that is told and it is none."""
    top = next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)
    if top is None or (layer := project_layer(top)) is None:
        return None
    try:
        with opened() as store:
            trusted = store.trust.is_trusted(layer.path, layer.digest)
        why = "is not trusted as it stands"
    except Trouble:
        trusted, why = False, "cannot be known to be trusted: the ledger cannot be read"
    if trusted:
        return layer
    print(
        f"sekisho: {one_line(str(layer.path))} {why}, so this is judged without it\n"
        f"  next: `sekisho explain --policy {PROJECT_FILE} ...` judges by it, "
        "`sekisho policy trust` makes it count",
        file=sys.stderr,
    )
    return None
