"""What a devcontainer.json asks for: an image or a Dockerfile. Pure.

Format: containers.dev/implementors/json_reference; JSON with comments and trailing commas. What the gate
needs is added at run time; what would reach around it is refused.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sandbox.errors import EnclosureError

# Part of a run argument or key -> why it cannot be enclosed.
_ARGUMENTS = {
    "--privileged": "a privileged container holds every right over this machine",
    "--cap-add": "a capability could change the network inside",
    "--device": "a device of this machine lies outside every rule",
    "--security-opt": "the system call filter and no-new-privileges are the sandbox's",
    "--network": "the network inside is the gatekeeper's",
    "--net": "the network inside is the gatekeeper's",
    "--pid": "processes of this machine or of other containers would be in reach",
    "--ipc": "memory of this machine or of other containers would be in reach",
    "--uts": "the host's name is not the container's",
    "--userns": "files made inside must belong to the person",
    "--cgroupns": "the control groups are this machine's",
    "--cgroup-parent": "the limits are the sandbox's",
    "--volume": "folders of this machine come in through sandbox.mount only",
    "-v": "folders of this machine come in through sandbox.mount only",
    "--mount": "folders of this machine come in through sandbox.mount only",
    "--volumes-from": "folders of other containers would come in",
    "--runtime": "another runtime may not hold what the sandbox promises",
    "--gpus": "devices of this machine lie outside every rule",
    "--publish": "nothing outside may reach in",
    "-p": "nothing outside may reach in",
    "--add-host": "names resolve at the gatekeeper",
    "--dns": "names resolve at the gatekeeper",
    "--link": "other containers would be in reach",
    "--sysctl": "the kernel's settings are the sandbox's",
    "--env-file": "variables come in through sandbox.env only",
    "--group-add": "a group may own a socket of this machine",
}
_HARMLESS = ("--name", "--hostname", "-h", "--init", "--rm", "--label", "-l", "--shm-size", "--ulimit",
             "--user", "-u", "--memory", "-m", "--cpus", "--workdir", "-w", "--platform", "--pull", "--tty",
             "-t", "--interactive", "-i", "--env", "-e")  # fmt: skip
_IGNORED = ("onCreateCommand", "updateContentCommand", "postCreateCommand", "postStartCommand",
            "postAttachCommand", "initializeCommand", "remoteUser", "containerUser", "forwardPorts",
            "mounts", "workspaceMount", "workspaceFolder")  # fmt: skip


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """A Dockerfile to be built: paths are absolute."""

    dockerfile: str
    context: str
    args: dict[str, str] = {}
    target: str | None = None


class Devcontainer(msgspec.Struct, frozen=True, kw_only=True):
    """What to start from: exactly one of `image` and `build`. `ignored` are keys that have no effect here."""

    image: str | None = None
    build: Build | None = None
    env: dict[str, str] = {}
    ignored: tuple[str, ...] = ()


def read(text: str, path: str) -> Devcontainer:
    """Understand the text of the file at `path`. Raises EnclosureError where it cannot be used."""
    try:
        document = json.loads(plain_json(text))
    except ValueError as error:
        raise _unusable(path, f"it is no JSON with comments ({error})") from error
    if not isinstance(document, dict):
        raise _unusable(path, "it is no object")
    reasons = list(_reasons(document))
    if reasons:
        raise EnclosureError(
            "image-unenclosable",
            f"{path} cannot be enclosed: {'; '.join(reasons)}.",
            "Take that out, or name an image of your own with --image.",
        )
    return _understood(document, path)


def _understood(document: Mapping[str, Any], path: str) -> Devcontainer:
    found = document.get("build")
    build: dict[str, Any] = found if isinstance(found, dict) else {}
    dockerfile = build.get("dockerfile") or document.get("dockerFile")
    image = document.get("image")
    env = {str(k): str(v) for k, v in (document.get("containerEnv") or {}).items() if "${" not in str(v)}
    ignored = tuple(name for name in _IGNORED if document.get(name))
    if dockerfile:
        folder = os.path.dirname(path)
        context = build.get("context") or document.get("context") or "."
        made = Build(
            dockerfile=os.path.normpath(os.path.join(folder, str(dockerfile))),
            context=os.path.normpath(os.path.join(folder, str(context))),
            args={str(k): str(v) for k, v in (build.get("args") or {}).items()},
            target=build.get("target"),
        )
        return Devcontainer(build=made, env=env, ignored=ignored)
    if not isinstance(image, str) or not image or "${" in image:
        raise _unusable(path, "it names neither an image nor a Dockerfile")
    return Devcontainer(image=image, env=env, ignored=ignored)


def _reasons(document: Mapping[str, Any]) -> Iterator[str]:
    if document.get("privileged"):
        yield f"privileged: {_ARGUMENTS['--privileged']}"
    if document.get("capAdd"):
        yield f"capAdd: {_ARGUMENTS['--cap-add']}"
    if document.get("securityOpt"):
        yield f"securityOpt: {_ARGUMENTS['--security-opt']}"
    if document.get("dockerComposeFile"):
        yield "dockerComposeFile: several containers would share a network of their own"
    if document.get("features"):
        names = ", ".join(sorted(map(str, document["features"])))
        yield f"features ({names}): build the image with them first and name it with --image"
    for mount in document.get("mounts") or ():
        if "docker.sock" in str(mount):
            yield "mounts: the engine's socket is as good as root on this machine"
        elif not _is_volume(mount):
            yield f"mounts: {_ARGUMENTS['--mount']}"
    yield from _argument_reasons([str(word) for word in document.get("runArgs") or ()])


def _is_volume(mount: object) -> bool:
    """A named volume is only a cache: the container does without."""
    text = mount if isinstance(mount, str) else ",".join(f"{k}={v}" for k, v in dict(mount).items())  # type: ignore[call-overload]
    return "type=volume" in text or "type=tmpfs" in text


def _argument_reasons(words: list[str]) -> Iterator[str]:
    for word in words:
        name = word.partition("=")[0]
        if not name.startswith("-"):
            continue  # a value of the option before it
        short = name[:2] if not name.startswith("--") else name
        if short in _ARGUMENTS:
            yield f"runArgs {word}: {_ARGUMENTS[short]}"
        elif short not in _HARMLESS:
            yield f"runArgs {word}: not known to be harmless"


_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*\s*|/\*.*?\*/\s*)*)[}\]])', re.S
)


def plain_json(text: str) -> str:
    """The text without comments and trailing commas."""
    return _TOKEN.sub(lambda found: found.group() if found.group()[0] == '"' else "", text)


def _unusable(path: str, why: str) -> EnclosureError:
    return EnclosureError(
        "devcontainer-unusable", f"{path} cannot be used: {why}.", "Name an image with --image."
    )
