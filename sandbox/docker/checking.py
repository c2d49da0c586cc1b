"""What `doctor` says of the Docker engine: no need where bubblewrap can enclose."""

from sandbox.check import Check
from sandbox.docker.choosing import DEFAULT_IMAGE
from sandbox.docker.engine import connect, inspect
from sandbox.errors import EnclosureError

NAME = "Docker engine"


def look() -> Check:
    """Whether --backend docker could be used right now."""
    try:
        engine = connect()
        inspect(engine, DEFAULT_IMAGE)
    except EnclosureError as refused:
        return Check(name=NAME, ok=False, detail=refused.what, instead=refused.instead, needed=False)
    kind = "rootless, " if engine.rootless else ""
    return Check(name=NAME, ok=True, detail=f"{kind}API {engine.api}, image {DEFAULT_IMAGE}", needed=False)
