"""Where the engine is looked for, what its answers mean, and what is done about each."""

import errno
import hashlib
import json
from pathlib import Path

import pytest

from sandbox.docker.engine import socket_path
from sandbox.docker.failures import from_connection, from_engine
from sandbox.errors import EnclosureError


def test_variable_leads_to_the_socket() -> None:
    assert socket_path({"DOCKER_HOST": "unix:///x/y.sock"}) == "/x/y.sock"


@pytest.mark.parametrize("host", ["tcp://127.0.0.1:2375", "ssh://h", "https://h", "fd://"])
def test_engine_over_a_network_is_refused(host: str) -> None:
    with pytest.raises(EnclosureError, match="reached over a network"):
        socket_path({"DOCKER_HOST": host})


def test_context_leads_to_the_socket(tmp_path: Path) -> None:
    name = hashlib.sha256(b"mine").hexdigest()
    folder = tmp_path / "contexts/meta" / name
    folder.mkdir(parents=True)
    meta = {"Name": "mine", "Metadata": {}, "Endpoints": {"docker": {"Host": "unix:///z.sock"}}}
    (folder / "meta.json").write_text(json.dumps(meta))
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "mine"}))
    assert socket_path({"DOCKER_CONFIG": str(tmp_path)}) == "/z.sock"
    assert socket_path({"DOCKER_CONFIG": str(tmp_path), "DOCKER_HOST": "unix:///a"}) == "/a"
    meta["Endpoints"] = {"docker": {"Host": "tcp://192.0.2.1:2376"}}
    (folder / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(EnclosureError, match=r"192\.0\.2\.1"):
        socket_path({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "mine"})


def test_context_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnclosureError, match="nowhere"):
        socket_path({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "nowhere"})


def test_rootless_engines_socket_is_found(tmp_path: Path) -> None:
    (tmp_path / "docker.sock").touch()
    expected = {"/var/run/docker.sock", f"{tmp_path}/docker.sock"}
    assert socket_path({"XDG_RUNTIME_DIR": str(tmp_path)}) in expected


@pytest.mark.parametrize(
    "said, code",
    [
        ("invalid mount config for type bind: bind source path does not exist: /x", "bind-refused"),
        ("Mounts denied: The path /x is not shared from the host", "bind-refused"),
        ("exec /bin/sh: exec format error", "image-architecture"),
        ('exec: "/bin/sh": stat /bin/sh: no such file or directory', "image-no-shell"),
        ('exec: "docker-init": executable file not found', "engine-no-init"),
        ("No such image: x:latest", "image-missing"),
        ("write /x: no space left on device", "engine-disk-full"),
        ("error setting cgroup config", "engine-limits"),
        ("something else", "engine-refused"),
    ],
)
def test_answer_of_the_engine(said: str, code: str) -> None:
    error = from_engine(said, image="x")
    assert error.code == code
    assert error.instead


@pytest.mark.parametrize(
    "number, code",
    [
        (errno.ENOENT, "engine-unreachable"),
        (errno.ECONNREFUSED, "engine-unreachable"),
        (errno.EACCES, "engine-permission"),
        (errno.EPIPE, "engine-broken"),
    ],
)
def test_connection_that_fails(number: int, code: str) -> None:
    wrapped = ValueError("outer", OSError(number, "x"))
    assert from_connection(wrapped, "/s").code == code
    assert from_connection(OSError(number, "x"), "/s").code == code


def test_silence_is_named() -> None:
    assert from_connection(TimeoutError("timed out"), "/s").code == "engine-hangs"
