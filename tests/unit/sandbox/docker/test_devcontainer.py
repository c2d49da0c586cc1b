"""What of a devcontainer.json is used, and what cannot be enclosed."""

import json
from typing import Any

import pytest

from sandbox.docker.devcontainer import Build, plain_json, read
from sandbox.errors import EnclosureError

PATH = "/repo/.devcontainer/devcontainer.json"


def test_image_with_comments_and_trailing_commas() -> None:
    text = """// a comment
    {
      "name": "x", /* another, */
      "image": "registry.invalid/dev:1", // with "quotes"
      "containerEnv": {"A": "http://x//y", "B": "${localEnv:SECRET}",},
      "postCreateCommand": "make",
    }"""
    found = read(text, PATH)
    assert (found.image, found.build, found.env) == ("registry.invalid/dev:1", None, {"A": "http://x//y"})
    assert found.ignored == ("postCreateCommand",)


@pytest.mark.parametrize(
    "document, build",
    [
        (
            {"build": {"dockerfile": "Dockerfile"}},
            Build(dockerfile="/repo/.devcontainer/Dockerfile", context="/repo/.devcontainer"),
        ),
        (
            {"build": {"dockerfile": "../D", "context": "..", "args": {"V": 1}, "target": "t"}},
            Build(dockerfile="/repo/D", context="/repo", args={"V": "1"}, target="t"),
        ),
        (
            {"dockerFile": "Dockerfile", "context": ".."},
            Build(dockerfile="/repo/.devcontainer/Dockerfile", context="/repo"),
        ),
    ],
)
def test_dockerfile(document: dict[str, Any], build: Build) -> None:
    assert read(json.dumps(document), PATH).build == build


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"privileged": True}, "privileged"),
        ({"capAdd": ["SYS_PTRACE"]}, "capAdd"),
        ({"securityOpt": ["seccomp=unconfined"]}, "securityOpt"),
        ({"dockerComposeFile": "compose.yml"}, "dockerComposeFile"),
        ({"features": {"ghcr.invalid/docker-in-docker:2": {}}}, "docker-in-docker"),
        ({"mounts": ["source=/var/run/docker.sock,target=/var/run/docker.sock,type=bind"]}, "socket"),
        ({"mounts": [{"source": "/home", "target": "/h", "type": "bind"}]}, "sandbox.mount"),
        ({"mounts": ["source=${localEnv:HOME}/.ssh,target=/s"]}, "sandbox.mount"),
        ({"runArgs": ["--privileged"]}, "--privileged"),
        ({"runArgs": ["--network=host"]}, "--network=host"),
        ({"runArgs": ["--net", "host"]}, "--net"),
        ({"runArgs": ["--pid=host"]}, "--pid=host"),
        ({"runArgs": ["--cap-add=NET_ADMIN"]}, "--cap-add"),
        ({"runArgs": ["--security-opt", "seccomp=unconfined"]}, "--security-opt"),
        ({"runArgs": ["--device=/dev/kvm"]}, "--device"),
        ({"runArgs": ["-v", "/:/host"]}, "-v"),
        ({"runArgs": ["-v/:/host"]}, "-v/:/host"),
        ({"runArgs": ["--userns=host"]}, "--userns"),
        ({"runArgs": ["--something-new"]}, "not known to be harmless"),
        ({"runArgs": ["-d"]}, "not known to be harmless"),
    ],
)
def test_what_cannot_be_enclosed_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(EnclosureError) as caught:
        read(json.dumps({"image": "x", **changes}), PATH)
    assert caught.value.code == "image-unenclosable"
    assert reason in caught.value.what


@pytest.mark.parametrize(
    "changes",
    [
        {"runArgs": ["--name", "x", "--init", "-e", "A=1", "--shm-size=1g"]},
        {"mounts": ["source=cache,target=/c,type=volume"]},
        {"privileged": False, "capAdd": [], "features": {}},
        {"remoteUser": "vscode"},
    ],
)
def test_harmless_is_left_alone(changes: dict[str, Any]) -> None:
    assert read(json.dumps({"image": "x", **changes}), PATH).image == "x"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"image": 1}', '{"image": "${localEnv:X}"}', ""])
def test_unusable_file_is_named(text: str) -> None:
    with pytest.raises(EnclosureError, match="cannot be used") as caught:
        read(text, PATH)
    assert caught.value.code == "devcontainer-unusable"


@pytest.mark.parametrize(
    "text, plain",
    [
        ('{"a": "//x"}', '{"a": "//x"}'),
        ('{"a": "\\"//x"} // y', '{"a": "\\"//x"} '),
        ('{"a": 1, /* , */ }', '{"a": 1  }'),
        ("[1, // x\n]", "[1 \n]"),
        ('{"a": ",}"}', '{"a": ",}"}'),
    ],
)
def test_comments_are_taken_out(text: str, plain: str) -> None:
    assert plain_json(text) == plain
