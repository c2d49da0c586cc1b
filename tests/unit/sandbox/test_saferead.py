"""Reading what an agent wrote never leads out of its folder, and never hangs."""

import os
from pathlib import Path

import pytest

from sandbox.saferead import TooLarge, UnsafePath, disk_usage, list_files, read_file, read_head, remove_file


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "outbox/sub").mkdir(parents=True)
    (tmp_path / "outbox/note.txt").write_text("note")
    (tmp_path / "outbox/sub/deep.txt").write_text("deep")
    return tmp_path / "outbox"


def test_regular_files_are_read(outbox: Path) -> None:
    assert read_file(outbox, "note.txt", limit=4) == b"note"
    assert read_file(outbox, b"sub/deep.txt", limit=100) == b"deep"
    assert read_head(outbox, "note.txt", limit=2) == b"no"


def test_too_large_is_refused(outbox: Path) -> None:
    with pytest.raises(TooLarge):
        read_file(outbox, "note.txt", limit=3)


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "sub/../../secret", "sub/../sub/../../secret"])
def test_leaving_the_folder_is_refused(outbox: Path, path: str) -> None:
    with pytest.raises(UnsafePath):
        read_file(outbox, path, limit=100)


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "note.txt", "/proc/self/environ"])
def test_link_is_refused(outbox: Path, target: str) -> None:
    (outbox / "link").symlink_to(target)
    with pytest.raises(UnsafePath):
        read_file(outbox, "link", limit=1 << 20)


def test_link_on_the_way_is_refused(outbox: Path) -> None:
    (outbox / "out").symlink_to("..")
    with pytest.raises(UnsafePath):
        read_file(outbox, "out/secret", limit=100)


def test_folder_that_became_a_link_is_refused(outbox: Path, tmp_path: Path) -> None:
    swapped = tmp_path / "swapped"
    swapped.symlink_to(outbox)
    with pytest.raises(OSError, match="Not a directory"):
        read_file(swapped, "note.txt", limit=100)


@pytest.mark.timeout(5)
def test_fifo_does_not_hang(outbox: Path) -> None:
    os.mkfifo(outbox / "pipe")
    with pytest.raises(UnsafePath):
        read_file(outbox, "pipe", limit=100)


def test_folder_is_no_file(outbox: Path) -> None:
    with pytest.raises(UnsafePath):
        read_file(outbox, "sub", limit=100)


def test_null_byte_is_refused(outbox: Path) -> None:
    with pytest.raises(UnsafePath):
        read_file(outbox, "note.txt\0.png", limit=100)


def test_missing_is_the_usual_error(outbox: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(outbox, "absent", limit=100)


def test_listing_shows_files_and_names_what_it_refuses(outbox: Path) -> None:
    (outbox / "sub/link").symlink_to("/etc")
    os.mkfifo(outbox / "pipe")
    (outbox / os.fsdecode(b"\xff.bin")).write_bytes(b"12")
    listing = list_files(outbox)
    assert [(entry.path, entry.size) for entry in listing.files] == [
        (b"note.txt", 4),
        (b"sub/deep.txt", 4),
        (b"\xff.bin", 2),
    ]
    assert listing.refused == (b"pipe", b"sub/link")
    assert listing.complete


def test_listing_is_bounded(outbox: Path) -> None:
    for number in range(50):
        (outbox / str(number)).touch()
    assert len(list_files(outbox, limit=10).files) <= 10
    assert not list_files(outbox, limit=10).complete
    deep = outbox / "/".join("d" * 1 for _ in range(20))
    deep.mkdir(parents=True)
    assert not list_files(outbox).complete


def test_usage_counts_no_target_of_a_link(outbox: Path, tmp_path: Path) -> None:
    before = disk_usage(outbox, b".")
    (tmp_path / "big").mkdir()
    (tmp_path / "big/file").write_bytes(b"x" * 100_000)
    (outbox / "big").symlink_to(tmp_path / "big")
    assert before == 8
    assert disk_usage(outbox, b".") < 1000
    assert disk_usage(outbox, b"big") == 0


def test_removal_follows_no_link(outbox: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/index.lock").touch()
    (outbox / "git").symlink_to(tmp_path / "elsewhere")
    assert not remove_file(outbox, b"git/index.lock")
    assert (tmp_path / "elsewhere/index.lock").exists()
    assert not remove_file(outbox, b"sub")
    assert remove_file(outbox, b"sub/deep.txt")
    assert not (outbox / "sub/deep.txt").exists()
