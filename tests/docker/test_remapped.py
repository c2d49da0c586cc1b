"""An engine that maps users (dockerd --userns-remap): sessions work, and what they make is the person's.

It is a second engine, started for these tests in a mount namespace of its own, where the ranges of users are
ours to say.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.docker.engine import Engine, connect, inspect
from sandbox.errors import EnclosureError
from tests.docker import lab, test_sessions
from tests.docker.test_run import SCRIPT
from tests.docker.test_same_network import talk_through
from tests.e2e.world import make_world
from tests.support.interpreter import cache_folder
from tests.support.needs import skip_or_fail

pytestmark = [*lab.marks, pytest.mark.root]
BEGIN = """
mount --bind "$1/ranges" /etc/subuid && mount --bind "$1/ranges" /etc/subgid
exec dockerd --userns-remap "nobody:$(id -gn nobody)" --bridge none --iptables=false \\
  --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/pid" --host "unix://$1/docker.sock"
"""


@pytest.fixture(scope="module")
def remapped() -> Iterator[Engine]:
    """Such an engine, with our image. Where none can be started the tests are skipped, in CI they fail."""
    lab.image()
    if os.geteuid() != 0 or not all(map(shutil.which, ("dockerd", "unshare", "mount"))):
        skip_or_fail("needs root, dockerd, unshare and mount")
    # Below folders that everybody may enter: the engine's own root is somebody else.
    folder = Path(tempfile.mkdtemp(prefix="remapped-", dir=cache_folder()))
    folder.chmod(0o755)
    (folder / "ranges").write_text("nobody:200000:65536\n")
    argv = ["unshare", "--mount", "sh", "-c", BEGIN, "sh", str(folder)]
    with (folder / "log").open("wb") as log, subprocess.Popen(argv, stdout=log, stderr=log) as process:
        try:
            engine = _up(folder, process)
            with contextlib.closing(engine.client):
                engine.client.load_image(lab.engine().client.get_image("sekisho/base"))
                yield engine
        finally:
            process.terminate()
            process.wait(30)
            _unmount(folder)
            shutil.rmtree(folder)


def _up(folder: Path, process: "subprocess.Popen[bytes]") -> Engine:
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(EnclosureError):
            return connect({"DOCKER_HOST": f"unix://{folder}/docker.sock"})
        time.sleep(0.1)
    last = (folder / "log").read_text().splitlines()[-1:]
    skip_or_fail(f"an engine that maps users does not start here: {last}")
    raise AssertionError


def _unmount(folder: Path) -> None:
    """What the engine leaves mounted where it may be seen from here."""
    for line in Path("/proc/mounts").read_text().splitlines():
        if line.split()[1].startswith(f"{folder}/"):
            subprocess.run(["umount", "--lazy", line.split()[1]], check=True)


@pytest.fixture
def engine(remapped: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The one that the shared tests use, too."""
    image = inspect(remapped, "sekisho/base")
    monkeypatch.setattr(lab, "engine", lambda: remapped)
    monkeypatch.setattr(lab, "image", lambda: image)
    return remapped


def test_it_does_map_users(engine: Engine) -> None:
    assert engine.remaps
    assert not engine.rootless


def test_files_made_inside_belong_to_the_person(engine: Engine, tmp_path: Path) -> None:
    test_sessions.test_files_made_inside_belong_to_the_person(tmp_path)


@pytest.mark.parametrize("enter", [True, False], ids=["entered", "by the helper"])
def test_the_network_is_the_same(engine: Engine, enter: bool) -> None:
    assert [entry[0] for entry in talk_through(enter=enter) if isinstance(entry, list)] == [
        "https",
        "http",
        "proxy",
        "local-11434",
        17,
        6,
    ]


def test_a_session_works_and_its_files_are_the_persons(engine: Engine, tmp_path: Path) -> None:
    with make_world(tmp_path / "world") as world:
        host = f"unix://{engine.address}"
        session = world.run(SCRIPT, "--backend", "docker", timeout=110, DOCKER_HOST=host)
        assert (session.status, session.out.split("\n")[:4]) == (
            7,
            ["fetched", "200", "held: approval", "403"],
        )
        made = [*session.folder.rglob("*"), *(world.repository / ".git").rglob("*")]
        assert "in-a-container.txt" in {path.name for path in made}
        assert {path.lstat().st_uid for path in made} == {os.getuid()}
        assert sorted(hold["verb"] for hold in world.holds(session)) == ["git.push", "http.post"]
        assert world.writes() == []
