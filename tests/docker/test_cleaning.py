"""What a provably dead launcher left is taken away at the next start; nothing else is touched."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.docker import owner
from sandbox.docker.cleaning import clean
from sandbox.docker.laying import PREFIX
from tests.docker import lab

pytestmark = lab.marks
INSTANCE = f"cleaning-{os.getpid()}"


def dead_owner() -> owner.Owner:
    """A process that was and is no more, of this boot."""
    with subprocess.Popen(["/bin/sleep", "0"]) as process:
        pid, started = process.pid, owner.started(process.pid) or "1"
    here = owner.this_owner()
    return owner.Owner(
        pid=str(pid), started=started, boot=here.boot, namespace=here.namespace, machine=here.machine
    )


def changed(one: owner.Owner, **fields: str) -> dict[str, str]:
    """Its labels with some fields changed."""
    labels = one.labels()
    return labels | {f"{owner.PREFIX}owner-{name}": value for name, value in fields.items()}


@pytest.fixture
def made() -> Iterator[list[str]]:
    """Names of containers, taken away at the end."""
    names: list[str] = []
    yield names
    with lab.removed(*names):
        pass


def make(made: list[str], name: str, labels: dict[str, str]) -> str:
    """A running container that somebody left."""
    client = lab.engine().client
    full = f"sekisho-{name}-{os.getpid()}"
    body = {
        "Image": lab.image().id,
        "Cmd": ["/bin/sleep", "300"],
        "Labels": labels,
        "HostConfig": {"NetworkMode": "none"},
    }
    client.create_container_from_config(body, full)
    made.append(full)
    client.start(full)
    return full


def test_only_what_a_dead_owner_of_ours_left_is_removed(made: list[str], tmp_path: Path) -> None:
    ours, here, dead = {owner.INSTANCE: INSTANCE}, owner.this_owner(), dead_owner()
    folder = tmp_path / f"{PREFIX}left"
    folder.mkdir()
    gone = make(made, "dead", {**dead.labels(), **ours, owner.FOLDER: str(folder)})
    booted = make(made, "before", {**changed(here, boot="another"), **ours})
    reused = make(made, "reused", {**changed(here, started="1"), **ours})
    kept = [
        make(made, "alive", {**here.labels(), **ours}),
        make(made, "elsewhere", {**changed(dead, machine="another"), **ours}),
        make(made, "namespace", {**changed(dead, namespace="pid:[1]"), **ours}),
        make(made, "unknown", ours),
        make(made, "other", {**dead.labels(), owner.INSTANCE: f"{INSTANCE}-2"}),
        make(made, "foreign", {}),
    ]
    assert sorted(clean(lab.engine(), INSTANCE)) == sorted([gone, booted, reused])
    assert not folder.exists()
    running = lab.engine().client.containers(all=True)
    names = {name.lstrip("/") for container in running for name in container["Names"]}
    assert names >= set(kept)
    assert not names & {gone, booted, reused}
    assert clean(lab.engine(), INSTANCE) == []


def test_label_cannot_name_a_folder_of_the_persons(made: list[str], tmp_path: Path) -> None:
    precious = tmp_path / "work"
    precious.mkdir()
    sly = tmp_path / f"{PREFIX}x"
    sly.symlink_to(precious)
    ours, dead = {owner.INSTANCE: INSTANCE}, dead_owner().labels()
    for n, path in enumerate((precious, f"{tmp_path}/{PREFIX}x/../work", sly)):
        make(made, f"sly{n}", {**dead, **ours, owner.FOLDER: str(path)})
    assert len(clean(lab.engine(), INSTANCE)) == 3
    assert precious.is_dir()
