"""Takes away what provably dead launchers left: containers of this state folder, and their folders."""

import os
import shutil
from pathlib import Path

from sandbox.docker.engine import Engine, named, patient
from sandbox.docker.laying import PREFIX
from sandbox.docker.owner import FOLDER, INSTANCE, Life, from_labels, life, this_owner
from sandbox.errors import EnclosureError


def clean(engine: Engine, instance: str) -> list[str]:
    """Remove the containers, running or not, of dead owners that carry `instance`; their names.

    Those of live and unknown owners and of other instances are not touched. Raises EnclosureError.
    """
    here, removed = this_owner(), []
    with named(engine.address):
        found = engine.client.containers(all=True, filters={"label": f"{INSTANCE}={instance}"})
    for container in found:
        labels = container.get("Labels") or {}
        if labels.get(INSTANCE) == instance and life(from_labels(labels), here) is Life.DEAD:
            if _remove(engine, container["Id"]):
                removed.append(str((container.get("Names") or [container["Id"]])[0]).lstrip("/"))
            _remove_folder(labels.get(FOLDER, ""))
    return removed


def _remove(engine: Engine, container: str) -> bool:
    """False where somebody else is at it already, such as the guardian."""
    try:
        with named(engine.address), patient(engine):
            engine.client.remove_container(container, force=True, v=True)
    except EnclosureError as error:
        if "no such container" in error.what.lower() or "already in progress" in error.what:
            return False
        raise
    return True


def _remove_folder(path: str) -> None:
    """Only what we made: a label is text that anybody on the engine can write."""
    folder = Path(path)
    if folder.is_absolute() and folder.name.startswith(PREFIX) and ".." not in folder.parts:
        try:
            ours = folder.lstat().st_uid == os.geteuid() and not folder.is_symlink()
        except OSError:
            return
        if ours:
            shutil.rmtree(folder, ignore_errors=True)
