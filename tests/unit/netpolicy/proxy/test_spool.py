"""Bodies in memory and on disk."""

import hashlib
from pathlib import Path

import pytest

from netpolicy.proxy.spool import CHUNK, Spool


@pytest.mark.parametrize("size", [0, 1, 10, 11, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_body_comes_back_as_it_was_written(tmp_path: Path, size: int) -> None:
    spool = Spool(tmp_path / "spool", memory=10)
    whole = bytes(number % 251 for number in range(size))
    for at in range(0, size, 1000):
        spool.write(whole[at : at + 1000])
    body = spool.body()
    assert body.size == size
    assert body.sha256 == hashlib.sha256(whole).hexdigest()
    assert b"".join(spool.chunks()) == whole
    assert spool.is_large is (size > 10)
    if body.path is None:
        assert body.data == whole
    else:
        assert body.path.read_bytes() == whole
        assert body.path.stat().st_mode & 0o777 == 0o600
    spool.release()
    spool.release()
    assert list((tmp_path / "spool").glob("*")) == []


def test_moved_file_can_still_be_forwarded_and_stays(tmp_path: Path) -> None:
    spool = Spool(tmp_path, memory=1)
    spool.write(b"abc")
    path = spool.body().path
    assert path is not None
    kept = path.rename(tmp_path / "kept")
    assert b"".join(spool.chunks()) == b"abc"
    spool.release()
    assert kept.read_bytes() == b"abc"


def test_cut_file_is_not_taken_for_the_whole_body(tmp_path: Path) -> None:
    spool = Spool(tmp_path, memory=1)
    spool.write(b"abc")
    path = spool.body().path
    assert path is not None
    path.write_bytes(b"")
    with pytest.raises(OSError, match="cut"):
        list(spool.chunks())
    spool.release()
