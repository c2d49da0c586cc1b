"""How mounts are sorted for a container: what lies hidden, what is laid outside, what cannot be."""

import pytest

from sandbox.docker.view import view, visible
from sandbox.errors import EnclosureError
from sandbox.spec import Mount, MountKind


def ro(target: str, source: str = "/s") -> Mount:
    return Mount(kind=MountKind.RO, source=source, target=target)


def rw(target: str) -> Mount:
    return Mount(kind=MountKind.RW, source="/s", target=target)


def tmpfs(target: str, size: int = 0) -> Mount:
    return Mount(kind=MountKind.TMPFS, target=target, size=size)


def data(target: str) -> Mount:
    return Mount(kind=MountKind.DATA, target=target, content=b"x", mode=0o644)


def link(target: str) -> Mount:
    return Mount(kind=MountKind.LINK, source="/usr/bin/git", target=target)


@pytest.mark.parametrize(
    "mounts, targets",
    [
        ([ro("/a"), ro("/a/b")], ["/a", "/a/b"]),
        ([ro("/a/b"), ro("/a")], ["/a"]),
        ([ro("/a"), rw("/a")], ["/a"]),
        ([ro("/a"), ro("/ab")], ["/a", "/ab"]),
        ([tmpfs("/run"), data("/run/x"), tmpfs("/run")], ["/run"]),
    ],
)
def test_what_lies_hidden_is_left_out(mounts: list[Mount], targets: list[str]) -> None:
    assert [mount.target for mount in visible(mounts)] == targets


def test_files_and_links_below_run_are_laid_in_one_folder() -> None:
    shown = view(
        [tmpfs("/run"), data("/run/k/a"), link("/run/k/only/git"), rw("/run/k/out"), ro("/run/k/out/d")]
    )
    (tree,) = shown.trees
    assert tree.target == "/run/k"
    # What lies in a mount of its own needs no place in the tree.
    assert [entry.target for entry in tree.entries] == ["/run/k/a", "/run/k/only/git", "/run/k/out"]
    assert not shown.files
    assert [mount.target for mount in shown.binds] == ["/run/k/out", "/run/k/out/d"]


def test_file_in_a_folder_of_the_image_is_mounted_alone() -> None:
    shown = view([data("/etc/passwd"), data("/run/x")])
    assert [file.target for file in shown.files] == ["/etc/passwd", "/run/x"]
    assert not shown.trees


def test_folders_between_home_and_a_file_belong_to_the_person() -> None:
    shown = view([tmpfs("/home/a", 1024), data("/home/a/.config/x/y"), ro("/home/a/.pki/nssdb")])
    made = {mount.target: mount.size for mount in shown.tmpfs}
    assert made == {
        "/home/a": 1024,
        "/home/a/.config/x": 1024,
        "/home/a/.config": 1024,
        "/home/a/.pki": 1024,
    }


def test_masks_of_proc_are_the_engines_own() -> None:
    masks = [ro("/proc/sys", "/proc/sys"), ro("/proc/kcore", "/dev/null"), tmpfs("/proc/acpi")]
    shown = view(
        [Mount(kind=MountKind.PROC, target="/proc"), Mount(kind=MountKind.DEV, target="/dev"), *masks]
    )
    assert (shown.masked, shown.readonly) == (("/proc/kcore", "/proc/acpi"), ("/proc/sys",))
    assert not shown.binds
    assert not shown.tmpfs


@pytest.mark.parametrize(
    "mounts",
    [
        [link("/bin")],
        [link("/run/x"), tmpfs("/other")],
        [tmpfs("/run"), link("/run/x")],
        [tmpfs("/home/a"), link("/home/a/b/c")],
        [ro("/")],
        [ro("/a/../b")],
        [ro("relative")],
        [ro("/a/")],
        [rw("/proc/sys")],
        [ro("/proc/sys", "/elsewhere")],
        [ro("/dev/kvm")],
        [ro("/sys/fs")],
        [Mount(kind=MountKind.PROC, target="/other")],
        [Mount(kind=MountKind.DEV, target="/other")],
    ],
)
def test_what_a_container_cannot_have_is_refused(mounts: list[Mount]) -> None:
    with pytest.raises(EnclosureError, match="A container cannot have") as caught:
        view(mounts)
    assert caught.value.code == "mount-impossible"


def test_undecided_mount_and_nul_are_errors() -> None:
    with pytest.raises(ValueError, match="undecided"):
        view([Mount(kind=MountKind.RO_TRY, source="/s", target="/x")])
    with pytest.raises(ValueError, match="NUL"):
        view([ro("/x\0y")])
