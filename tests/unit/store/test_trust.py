from pathlib import Path

from sekisho.store.store import Store


def test_trust_is_for_one_path_and_one_content(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "sekisho.toml"
    assert not store.trust.is_trusted(path, "sha256:1")
    store.trust.trust(path, "sha256:1", "me")
    assert store.trust.is_trusted(path, "sha256:1")
    assert not store.trust.is_trusted(path, "sha256:2")
    assert not store.trust.is_trusted(tmp_path / "other.toml", "sha256:1")


def test_new_trust_takes_the_place_of_the_old(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "sekisho.toml"
    store.trust.trust(path, "sha256:1", "me")
    store.trust.trust(path, "sha256:2", "me")
    assert not store.trust.is_trusted(path, "sha256:1")
    assert [trusted.digest for trusted in store.trust.all()] == ["sha256:2"]


def test_distrust_takes_it_away(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "sekisho.toml"
    store.trust.trust(path, "sha256:1", "me")
    assert store.trust.distrust(path, "me")
    assert not store.trust.distrust(path, "me")
    assert not store.trust.is_trusted(path, "sha256:1")
    assert [record.kind for record in store.journal.query()] == ["policy.trusted", "policy.distrusted"]


def test_link_in_place_of_a_trusted_folder_inherits_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    store.trust.trust(tmp_path / "mine" / "sekisho.toml", "sha256:1", "me")
    (tmp_path / "mine").rmdir()
    (tmp_path / "mine").symlink_to(tmp_path / "theirs")
    assert not store.trust.is_trusted(tmp_path / "mine" / "sekisho.toml", "sha256:1")


def test_spelling_of_a_path_does_not_matter(store: Store, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    store.trust.trust(tmp_path / "x" / ".." / "sekisho.toml", "sha256:1", "me")
    assert store.trust.is_trusted(tmp_path / "sekisho.toml", "sha256:1")
