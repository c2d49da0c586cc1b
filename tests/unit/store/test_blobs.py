import hashlib
import io
import os
from pathlib import Path

import pytest

from sekisho.store.blobs import Blobs
from sekisho.store.errors import StoreBroken, Trouble


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 3_000_000], ids=["empty", "one", "big"])
def test_content_comes_back(blobs: Blobs, data: bytes) -> None:
    blob = blobs.put_bytes(data)
    assert blob.sha256 == hashlib.sha256(data).hexdigest()
    assert blob.size == len(data)
    assert blobs.read(blob.sha256) == data
    with blobs.open(blob.sha256) as stream:
        assert stream.read() == data
    path = blobs.path(blob.sha256)
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == [path.name]


def test_same_content_is_stored_once(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"content")
    assert blobs.put_file(tmp_path / "source") == blobs.put_bytes(b"content")
    assert len([path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]) == 1


@pytest.mark.parametrize("change", [b"", b"contenT", b"content and more"])
def test_changed_content_is_refused(blobs: Blobs, change: bytes) -> None:
    blob = blobs.put_bytes(b"content")
    blobs.path(blob.sha256).write_bytes(change)
    with pytest.raises(StoreBroken) as caught:
        blobs.read(blob.sha256)
    assert caught.value.trouble is Trouble.CORRUPT
    with pytest.raises(StoreBroken):
        blobs.open(blob.sha256)


def test_missing_content_is_broken_and_can_be_removed_again(blobs: Blobs) -> None:
    blob = blobs.put_bytes(b"content")
    blobs.remove(blob.sha256)
    blobs.remove(blob.sha256)
    with pytest.raises(StoreBroken):
        blobs.read(blob.sha256)


@pytest.mark.parametrize("name", ["", "..", "A" * 64, "../" + "a" * 61, "a" * 63, "a" * 64 + "\n"])
def test_name_that_is_no_digest_is_refused(blobs: Blobs, name: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        blobs.path(name)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "missing"])
def test_source_that_is_no_regular_file_is_refused(blobs: Blobs, tmp_path: Path, kind: str) -> None:
    source = tmp_path / "source"
    if kind == "link":
        source.symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(source)
    elif kind == "folder":
        source.mkdir()
    with pytest.raises(StoreBroken):
        blobs.put_file(source)


def test_source_that_fails_leaves_nothing_behind(blobs: Blobs, tmp_path: Path) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(StoreBroken):
        blobs.put(Failing())
    assert os.listdir(tmp_path / "blobs") == []
