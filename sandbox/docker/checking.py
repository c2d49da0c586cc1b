"""What `doctor` says of the Docker engine: no need where bubblewrap encloses."""

from pathlib import Path

from sandbox.check import Check
from sandbox.docker.base import base_mounts
from sandbox.docker.choosing import DEFAULT_IMAGE, file_of
from sandbox.docker.engine import Engine, connect, inspect
from sandbox.docker.failures import LOOK
from sandbox.docker.launch import start
from sandbox.docker.render import Image
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure

NAME = "Docker engine"
PATIENCE = 1.0  # seconds for each answer: the doctor's whole round takes no three


def look(image: str | None = None, *, chosen: bool = False, project: Path) -> Check:
    """Whether --backend docker could be used right now. `image` is as for choosing.choose; nothing is built.

    What is `chosen` is needed, and a container is started to see.
    """
    try:
        detail = _tried(image or DEFAULT_IMAGE, chosen, project)
    except (EnclosureError, TimeoutError) as refused:
        what, instead = getattr(refused, "what", str(refused)), getattr(refused, "instead", LOOK)
        return Check(name=NAME, ok=False, detail=what, instead=instead, needed=chosen, used=chosen)
    return Check(name=NAME, ok=True, detail=detail, needed=chosen, used=chosen)


def _tried(name: str, chosen: bool, project: Path) -> str:
    engine = connect(patience=PATIENCE)
    said = f"{'rootless, ' if engine.rootless else ''}API {engine.api}"
    if (file := file_of(name, project)) is not None:
        return f"{said}, image by {file}"
    image = inspect(engine, name)
    if chosen:
        _start_one(engine, image)
    return f"{said}, image {name}{', a container started and ended' if chosen else ''}"


def _start_one(engine: Engine, image: Image) -> None:
    uid, gid = engine.identity()
    spec = Enclosure(
        argv=("/bin/true",),
        workdir="/tmp",
        mounts=base_mounts(uid=uid, gid=gid),
        env={"PATH": "/usr/bin:/bin"},
        uid=uid,
        gid=gid,
        network="prepared",
    )
    with start(spec, engine=engine, image=image, instance="doctor") as running:
        running.release()
        status = running.wait(15)
    if status != 0:
        raise EnclosureError("image-strange", f"/bin/true ended with {status} in it.", LOOK)
