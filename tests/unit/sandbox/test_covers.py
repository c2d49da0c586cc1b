"""What is replaced outside is seen, and nothing else is."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import covers as module
from sandbox.covers import Covers, paths_of
from sandbox.errors import EnclosureError
from sandbox.spec import Mount, MountKind

SOON, NEVER = 5.0, 0.3  # seconds


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    for name in ("hidden", "deep/settings", "other"):
        (tmp_path / name).write_text("before\n")
    return tmp_path


def seen(tree: Path, act: Callable[[], object], wait: float) -> str | None:
    """Which path was said to be lost, relative to the tree."""
    told: list[str] = []
    event = threading.Event()

    def lost(path: str) -> None:
        told.append(os.path.relpath(path, tree))
        event.set()

    with Covers(str(tree / name) for name in ("deep", "hidden", "deep/settings", "absent")) as covers:
        covers.start(lost)
        act()
        event.wait(wait)
    return told[0] if told else None


def made_anew(file: Path) -> None:
    """A file system gives out the same inode number again."""
    file.unlink()
    file.write_text("after\n")


def folder_made_anew(folder: Path) -> None:
    folder.rename(folder.with_name("away"))
    folder.mkdir()
    (folder / "settings").write_text("after\n")


def removed_among_thousands(tree: Path) -> None:
    for number in range(20_000):
        (tree / f"new{number}").touch()
    (tree / "hidden").unlink()


LOST: dict[str, tuple[Callable[[Path], object], str]] = {
    "renamed_over": (lambda tree: os.replace(tree / "other", tree / "hidden"), "hidden"),
    "removed": (lambda tree: (tree / "hidden").unlink(), "hidden"),
    "moved_away": (lambda tree: (tree / "deep/settings").rename(tree / "elsewhere"), "deep/settings"),
    "its_folder_moved": (lambda tree: (tree / "deep").rename(tree / "shallow"), "deep"),
    "made_where_nothing_was": (lambda tree: (tree / "absent").touch(), "absent"),
    "made_anew": (lambda tree: made_anew(tree / "hidden"), "hidden"),
    "its_folder_made_anew": (lambda tree: folder_made_anew(tree / "deep"), "deep"),
    "removed_among_thousands": (lambda tree: removed_among_thousands(tree), "hidden"),
}
KEPT: dict[str, Callable[[Path], object]] = {
    "written_in_place": lambda tree: (tree / "hidden").write_text("after\n"),
    "mode_changed": lambda tree: (tree / "hidden").chmod(0o600),
    "linked_to": lambda tree: os.link(tree / "hidden", tree / "twin"),
    "others_replaced": lambda tree: os.replace(tree / "other", tree / "another"),
    "the_same_name_elsewhere": lambda tree: (tree / "deep/hidden").touch(),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize(("act", "path"), LOST.values(), ids=LOST)
def test_a_lost_cover_is_told(tree: Path, act: Callable[[Path], object], path: str) -> None:
    assert seen(tree, lambda: act(tree), SOON) == path


@pytest.mark.parametrize("act", KEPT.values(), ids=KEPT)
def test_a_cover_that_holds_is_not(tree: Path, act: Callable[[Path], object]) -> None:
    assert seen(tree, lambda: act(tree), NEVER) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_watch_that_fails_lets_nothing_go_on(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Covers) -> str:
        raise OSError("no more descriptors")

    monkeypatch.setattr(Covers, "_wait", broken)
    assert seen(tree, lambda: None, SOON) == os.path.relpath(module.UNTOLD, tree)


def test_folders_on_the_way_are_watched_up_to_what_is_mounted() -> None:
    def bind(path: str) -> Mount:
        return Mount(kind=MountKind.RO, source=path, target=path)

    mask = Mount(kind=MountKind.RO, source="/dev/null", target="/home/me/.nvm/v20/etc/npmrc", guards=True)
    found = paths_of([bind("/usr"), bind("/home/me/.nvm"), mask])
    assert found == [mask.target, "/home/me/.nvm/v20/etc", "/home/me/.nvm/v20"]


def test_what_was_replaced_before_the_start_ends_it(tree: Path) -> None:
    with Covers([str(tree / "hidden")]) as covers:
        os.replace(tree / "other", tree / "hidden")
        with pytest.raises(EnclosureError) as refused:
            covers.start(lambda _: None)
    assert refused.value.code == "cover-lost"


def test_without_a_watch_nothing_is_covered(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(module, "checked", none)
    with pytest.raises(EnclosureError) as refused:
        Covers([str(tree / "hidden")])
    assert refused.value.code == "covers-unwatched"
    assert "max_user_instances" in refused.value.instead


def test_descriptors_are_given_back(tree: Path) -> None:
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        assert seen(tree, lambda: None, 0) is None
    assert os.listdir("/proc/self/fd") == before
