import os
from pathlib import Path

import pytest

from sekisho.store import keys
from sekisho.store.errors import StoreBroken
from tests.unit.store.support import at_once


def test_key_is_made_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "one"
    key = keys.load_or_create(path)
    assert len(key) == 32
    assert keys.load_or_create(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["one"]


def test_all_makers_get_the_same_key(tmp_path: Path) -> None:
    found = at_once(6, lambda number: keys.load_or_create(tmp_path / "key"))
    assert len(set(found)) == 1


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660, 0o777])
def test_key_that_others_may_read_is_refused(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "key"
    keys.load_or_create(path)
    path.chmod(bits)
    with pytest.raises(StoreBroken, match="open to others"):
        keys.load_or_create(path)


@pytest.mark.parametrize("attack", ["link", "dangling", "short", "long", "folder", "pipe", "foreign"])
def test_planted_key_is_refused(tmp_path: Path, attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "key"
    if attack == "link":
        keys.load_or_create(tmp_path / "other")
        path.symlink_to(tmp_path / "other")
    elif attack == "dangling":
        path.symlink_to(tmp_path / "nothing")
    elif attack == "folder":
        path.mkdir(mode=0o700)
    elif attack == "pipe":
        os.mkfifo(path, 0o600)
    else:
        path.write_bytes(b"x" * {"short": 31, "long": 33, "foreign": 32}[attack])
        path.chmod(0o600)
    if attack == "foreign":
        owner = path.stat().st_uid
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(StoreBroken):
        keys.load_or_create(path)
