"""What is laid outside for a container."""

import os
import stat
from pathlib import Path

import msgspec
import pytest

from sandbox.docker.base import base_mounts, image_environment, image_path
from sandbox.docker.laying import Folder, present
from sandbox.docker.render import Image
from sandbox.docker.tools import ABSENT_DIR, mounts, path
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Mount, MountKind

IMAGE = Image(
    id="x", env={"PATH": "/opt/bin:/bin", "HOME": "/root", "JAVA_HOME": "/opt/java", "CURL_CA_BUNDLE": "/x"}
)


def enclosure(*extra: Mount) -> Enclosure:
    uid = os.geteuid()
    return Enclosure(
        argv=("true",), workdir="/", mounts=(*base_mounts(uid=uid, gid=uid), *extra), env={}, uid=uid, gid=uid
    )


def test_folder_is_private_and_goes_away(tmp_path: Path) -> None:
    mounts = (
        Mount(kind=MountKind.DATA, target="/run/k/deep/file", content=b"\0x", mode=0o755),
        Mount(kind=MountKind.LINK, source="/usr/bin/git", target="/run/k/only/git"),
        Mount(kind=MountKind.RW, source=str(tmp_path), target="/run/k/out"),
        Mount(kind=MountKind.RO, source=__file__, target="/run/k/one"),
    )
    folder = Folder(enclosure(*mounts), tmp_path)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    tree = Path(folder.sources.trees["/run/k"])
    assert (tree / "deep/file").read_bytes() == b"\0x"
    assert stat.S_IMODE((tree / "deep/file").stat().st_mode) == 0o755
    assert os.readlink(tree / "only/git") == "/usr/bin/git"
    assert (tree / "out").is_dir()
    assert (tree / "one").is_file()
    assert b"agent:x:" in Path(folder.sources.files["/etc/passwd"]).read_bytes()
    assert stat.S_ISFIFO((folder.entry / "go").stat().st_mode)
    folder.remove()
    folder.remove()
    assert not list(tmp_path.iterdir())


def test_optional_mounts_are_decided(tmp_path: Path) -> None:
    there = Mount(kind=MountKind.RO_TRY, source=str(tmp_path), target="/x")
    missing = Mount(kind=MountKind.RO_TRY, source=str(tmp_path / "none"), target="/y")
    decided = present(enclosure(there, missing))
    assert decided[-1] == Mount(kind=MountKind.RO, source=str(tmp_path), target="/x")
    assert not any(mount.target == "/y" for mount in decided)


def test_missing_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnclosureError, match="no /nonexistent"):
        present(enclosure(Mount(kind=MountKind.RW, source="/nonexistent", target="/x")))


def test_a_place_is_looked_for_where_it_is_mounted(tmp_path: Path) -> None:
    """In the innermost mount, which hides what lies below; the engine would leave a file of root's there."""
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    (outer / "in").mkdir(parents=True)
    inner.mkdir()
    (inner / "config").touch()
    file = Mount(kind=MountKind.DATA, target="/w/in/config")
    around = Mount(kind=MountKind.RW, source=str(outer), target="/w")
    between = Mount(kind=MountKind.RO, source=str(inner), target="/w/in")
    assert file in present(enclosure(around, between, file))
    (outer / "in" / "config").touch()
    (inner / "config").unlink()
    with pytest.raises(EnclosureError, match=f"nothing at {inner}/config"):
        present(enclosure(around, msgspec.structs.replace(between, kind=MountKind.RW), file))


def test_roots_account_is_its_own() -> None:
    (passwd,) = [m.content for m in base_mounts(uid=0, gid=0) if m.target == "/etc/passwd"]
    assert passwd.startswith(b"agent:x:0:0:agent:/home/agent:")
    assert b"root:" not in passwd


def test_images_variables_stay_where_they_do_no_harm() -> None:
    assert image_environment(IMAGE.env) == {"JAVA_HOME": "/opt/java"}
    assert image_path(IMAGE.env) == "/opt/bin:/bin"
    assert image_path({}).startswith("/usr/local/sbin")


def test_absent_tools_say_how_to_ask() -> None:
    made = {mount.target: mount.content.decode() for mount in mounts(IMAGE, keep=["kubectl"], only=None)}
    assert "sandbox.tools.keep" in made[f"{ABSENT_DIR}/ssh"]
    assert f"{ABSENT_DIR}/kubectl" not in made
    assert path(IMAGE, first=("/shim",), only=None) == f"/shim:{ABSENT_DIR}:/opt/bin:/bin"


def test_only_listed_tools_are_on_the_path() -> None:
    made = {
        mount.target: mount.content.decode() for mount in mounts(IMAGE, keep=[], only=["git", "a'b", "../x"])
    }
    assert set(made) == {"/run/sekisho/only/git", "/run/sekisho/only/a'b"}
    assert "PATH=/opt/bin:/bin command -v -- git" in made["/run/sekisho/only/git"]
    assert path(IMAGE, first=("/shim",), only=["git"]) == "/shim:/run/sekisho/only"
