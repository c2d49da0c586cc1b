"""Whatever is wrong with engine or image is named within ten seconds, and nothing is run."""

import io
import json
import os
import socket
import struct
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.backend import choose
from sandbox.docker.checking import look
from sandbox.docker.choosing import choose as choose_image
from sandbox.docker.engine import connect, inspect
from sandbox.docker.launch import start
from sandbox.docker.render import Image
from sandbox.errors import EnclosureError
from sandbox.spec import Mount, MountKind
from tests.docker import lab
from tests.support.unprivileged import ordinary_user

pytestmark = lab.marks


@pytest.fixture(autouse=True)
def within_ten_seconds() -> Iterator[None]:
    """What every test here must hold."""
    lab.image()
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 10


def code_of(call: object, *args: object, **options: object) -> str:
    """The code of the EnclosureError that a call raises; it says what to do, too."""
    with pytest.raises(EnclosureError) as caught:
        call(*args, **options)  # type: ignore[operator]
    assert caught.value.instead
    assert not lab.containers()
    return caught.value.code


def imported(files: dict[str, bytes], *, architecture: str = "amd64") -> str:
    """An image of a few executable files; its id."""
    layer, archive = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755
            tar.addfile(info, io.BytesIO(content))
    import hashlib

    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    config = json.dumps(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        }
    ).encode()
    name = hashlib.sha256(config).hexdigest()
    manifest = [{"Config": f"{name}.json", "RepoTags": None, "Layers": ["layer.tar"]}]
    members = {f"{name}.json": config, "layer.tar": layer.getvalue()}
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for member, content in (members | {"manifest.json": json.dumps(manifest).encode()}).items():
            info = tarfile.TarInfo(member)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    list(lab.engine().client.load_image(archive.getvalue()))
    return f"sha256:{name}"


def foreign_program() -> bytes:
    """The beginning of a program for another processor."""
    machine = 0xF3  # RISC-V
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 2, machine, 1) + bytes(64)


def test_no_engine_at_the_socket() -> None:
    assert code_of(connect, {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}) == "engine-unreachable"


def test_socket_nobody_listens_on(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    assert code_of(connect, {"DOCKER_HOST": f"unix://{tmp_path}/s"}) == "engine-unreachable"


def connects(host: str) -> str:
    """The code of what keeps from an engine, for another user's call."""
    try:
        connect({"DOCKER_HOST": host})
    except EnclosureError as refused:
        return refused.code
    return "connected"


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_socket_without_permission() -> None:
    # Behind folders that everybody may enter, so that the socket's own mode is what refuses.
    path = Path("/tmp") / f"sekisho-test-{os.getpid()}.sock"
    with socket.socket(socket.AF_UNIX) as listener, ordinary_user() as user:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0o600)
        try:
            assert user.call(connects, f"unix://{path}") == "engine-permission"
        finally:
            path.unlink()


@contextmanager
def fake_engine(folder: Path, answer: bytes | None) -> Iterator[str]:
    """A server that answers everything alike, or nothing at all."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "fake"))
        listener.listen()
        held: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    accepted, _ = listener.accept()
                except OSError:
                    return
                held.append(accepted)
                if answer is not None:
                    if accepted.recv(65536):
                        accepted.sendall(answer)
                    accepted.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"unix://{folder}/fake"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)
            for accepted in held:
                accepted.close()


def json_answer(document: dict[str, object]) -> bytes:
    """The document as an HTTP answer."""
    content = json.dumps(document).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + content


@pytest.mark.parametrize(
    "document, code",
    [
        ({"ApiVersion": "1.18", "ServerVersion": "1.6.2"}, "engine-too-old"),
        ({"ApiVersion": "1.40", "ServerVersion": "19.03.15"}, "engine-too-old"),
        (
            {"ApiVersion": "1.45", "OSType": "linux", "OperatingSystem": "Docker Desktop"},
            "engine-elsewhere",
        ),
        ({"ApiVersion": "1.45", "OSType": "linux", "KernelVersion": "5.0"}, "engine-elsewhere"),
        (
            {"ApiVersion": "1.45", "OSType": "linux", "KernelVersion": os.uname().release},
            "engine-no-seccomp",
        ),
    ],
)
def test_engine_that_does_not_suffice(tmp_path: Path, document: dict[str, object], code: str) -> None:
    with fake_engine(tmp_path, json_answer(document)) as host:
        assert code_of(connect, {"DOCKER_HOST": host}) == code


def test_engine_that_is_none(tmp_path: Path) -> None:
    with fake_engine(tmp_path, b"220 mail ready\r\n") as host:
        assert code_of(connect, {"DOCKER_HOST": host}) == "engine-broken"


def test_engine_that_hangs(tmp_path: Path) -> None:
    with fake_engine(tmp_path, None) as host:
        assert code_of(connect, {"DOCKER_HOST": host}) == "engine-hangs"


def test_doctor_does_not_wait_for_an_engine_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_engine(tmp_path, None) as host:
        monkeypatch.setenv("DOCKER_HOST", host)
        began = time.monotonic()
        found = look(chosen=True, project=tmp_path)
    assert time.monotonic() - began < 3
    assert (found.ok, "does not answer in time" in found.detail, found.instead) == (
        False,
        True,
        "Restart it.",
    )


@pytest.mark.parametrize("host", ["tcp://192.0.2.7:2375", "ssh://me@192.0.2.7", "npipe:////./pipe/x"])
def test_engine_of_another_machine(host: str) -> None:
    assert code_of(connect, {"DOCKER_HOST": host}) == "engine-remote"


def test_image_that_is_not_there(tmp_path: Path) -> None:
    wanted = "registry.invalid/no/such:image"
    assert code_of(choose_image, lab.engine(), wanted, project=tmp_path) == "image-missing"


def test_image_for_another_processor() -> None:
    identity = imported({"bin/sh": b"x"}, architecture="riscv64")
    assert code_of(inspect, lab.engine(), identity) == "image-architecture"


def begin(identity: str, **options: object) -> None:
    spec = lab.enclosure("/bin/true", **options)  # type: ignore[arg-type]
    start(spec, engine=lab.engine(), image=Image(id=identity), instance=lab.INSTANCE).close()


@pytest.mark.parametrize(
    "files, code",
    [
        ({"bin/sh": foreign_program()}, "image-architecture"),
        ({"hello": b"#!/bin/true\n"}, "image-no-shell"),
        ({"bin/sh": b"#!/no/such/interpreter\n"}, "image-no-shell"),
    ],
)
def test_image_whose_shell_does_not_run(files: dict[str, bytes], code: str) -> None:
    assert code_of(begin, imported(files)) == code


def test_entry_that_crashes() -> None:
    """A shell that ends at once: the status and its words are told."""
    crashing = Mount(kind=MountKind.RO, source="/bin/false", target="/usr/bin/dash")
    with pytest.raises(EnclosureError, match="ended with status 1 before the command was entered") as caught:
        begin(lab.image().id, mounts=[crashing])
    assert caught.value.code == "entry-failed"
    assert not lab.containers()


def test_folder_that_the_engine_does_not_see(tmp_path: Path) -> None:
    """What a confined engine (snap, PrivateTmp) and one of another machine answer."""
    from sandbox.docker.failures import from_engine

    body = {
        "Image": lab.image().id,
        "HostConfig": {"Mounts": [{"Type": "bind", "Source": str(tmp_path / "none"), "Target": "/x"}]},
    }
    with pytest.raises(Exception, match="bind source path does not exist") as caught:
        lab.engine().client.create_container_from_config(body)
    assert from_engine(str(caught.value)).code == "bind-refused"


def test_mount_that_is_missing() -> None:
    missing = Mount(kind=MountKind.RO, source="/nonexistent", target="/x")
    assert code_of(begin, lab.image().id, mounts=[missing]) == "mount-missing"


def test_placeholder_in_the_persons_folder_is_not_made(tmp_path: Path) -> None:
    mounts = [
        Mount(kind=MountKind.RW, source=str(tmp_path), target="/w"),
        Mount(kind=MountKind.DATA, target="/w/new"),
    ]
    assert code_of(begin, lab.image().id, mounts=mounts) == "mount-missing"
    assert not list(tmp_path.iterdir())


def test_file_systems_below_a_read_only_folder() -> None:
    mounts = [Mount(kind=MountKind.RO, source="/dev", target="/d")]
    assert code_of(begin, lab.image().id, mounts=mounts) == "mount-impossible"


def test_nothing_weaker_takes_its_place(tmp_path: Path) -> None:
    environ = {"DOCKER_HOST": "unix:///nonexistent"}
    for wanted, image in (("docker", None), ("auto", "sekisho/base")):
        with pytest.raises(EnclosureError, match="No Docker engine answers"):
            choose(wanted, image=image, project=tmp_path, state=tmp_path, environ=environ)
    with pytest.raises(EnclosureError, match="bwrap cannot use the image"):
        choose("bwrap", image="sekisho/base", project=tmp_path, state=tmp_path, environ=environ)
