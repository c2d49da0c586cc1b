"""Which image: our own, a person's, or that of a devcontainer.json."""

import os
from collections.abc import Iterator
from pathlib import Path

from sandbox.docker import devcontainer
from sandbox.docker.engine import SLOW, Engine, inspect, named
from sandbox.docker.failures import from_engine
from sandbox.docker.render import Image
from sandbox.errors import EnclosureError

DEFAULT_IMAGE = "sekisho/base"
_PLACES = (".devcontainer/devcontainer.json", ".devcontainer.json", "devcontainer.json")


class Chosen(Image, frozen=True, kw_only=True):
    """An image and how it was named. `notes` are for the person: what has no effect here."""

    name: str
    notes: tuple[str, ...] = ()


def choose(engine: Engine, wanted: str | None, *, project: Path) -> Chosen:
    """The image for `wanted`: an image's name, a devcontainer.json or a folder that holds one, a Dockerfile,
    or None for our own. A Dockerfile is built with the engine. Raises EnclosureError."""
    name = wanted or DEFAULT_IMAGE
    file = file_of(name, project)
    if file is None:
        return _chosen(inspect(engine, name), name)
    if file.suffix == ".json":
        return _from_devcontainer(engine, file)
    return _built(engine, devcontainer.Build(dockerfile=str(file), context=str(file.parent)), str(file))


def file_of(name: str, project: Path) -> Path | None:
    """The devcontainer.json or Dockerfile that `name` means; None where it is an image's name.

    Raises EnclosureError where it means one that is not there.
    """
    path = (project / Path(name).expanduser()).absolute()
    if path.is_dir():
        found = [path / place for place in _PLACES if (path / place).is_file()]
        if found or name.startswith((".", "/", "~")):
            return found[0] if found else _missing(name)
        return None
    looks_like_file = name.endswith(".json") or os.path.basename(name).lower().endswith("dockerfile")
    if path.is_file() and (looks_like_file or name.startswith((".", "/", "~"))):
        return path
    return _missing(name) if name.startswith(("./", "../", "/", "~")) or name.endswith(".json") else None


def _missing(name: str) -> Path:
    raise EnclosureError(
        "image-missing", f"There is no devcontainer.json or Dockerfile at {name}.", "Name an image or a file."
    )


def _from_devcontainer(engine: Engine, file: Path) -> Chosen:
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise EnclosureError("devcontainer-unusable", f"{file}: {error}.", "Name an image.") from error
    wanted = devcontainer.read(text, str(file))
    notes = tuple(f"{file.name}: {key} has no effect in the sandbox" for key in wanted.ignored)
    if wanted.build is not None:
        return _chosen(_built(engine, wanted.build, str(file)), str(file), env=wanted.env, notes=notes)
    assert wanted.image is not None
    return _chosen(inspect(engine, wanted.image), wanted.image, env=wanted.env, notes=notes)


def _built(engine: Engine, build: devcontainer.Build, name: str) -> Chosen:
    """Build with the engine's own network and caches, outside the sandbox: the person asked for it."""
    if not Path(build.dockerfile).is_file():
        raise EnclosureError("image-missing", f"There is no {build.dockerfile}.", "Mend the path in it.")
    with named(engine.address, name):
        answers = engine.client.build(
            path=build.context,
            dockerfile=build.dockerfile,
            buildargs=build.args,
            target=build.target or "",
            decode=True,
            rm=True,
            forcerm=True,
            timeout=SLOW,
        )
        identity = _identity(answers, name)
    return _chosen(inspect(engine, identity), name)


def _identity(answers: Iterator[dict[str, object]], name: str) -> str:
    last: list[str] = []
    found = ""
    for answer in answers:
        if "error" in answer:
            said = " ".join(last[-5:])
            raise EnclosureError(
                "image-build-failed", f"Building {name}: {answer['error']} {said}.", "Mend the Dockerfile."
            )
        last.append(str(answer.get("stream", "")).strip())
        aux = answer.get("aux")
        if isinstance(aux, dict) and "ID" in aux:
            found = str(aux["ID"])
    if not found:
        raise from_engine("the build named no image", image=name)
    return found


def _chosen(
    image: Image, name: str, *, env: dict[str, str] | None = None, notes: tuple[str, ...] = ()
) -> Chosen:
    return Chosen(id=image.id, env=image.env | (env or {}), volumes=image.volumes, name=name, notes=notes)
