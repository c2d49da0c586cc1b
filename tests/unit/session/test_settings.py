"""Policy files are read as they are, from plain files, and pinned under one digest."""

import os
from pathlib import Path

import pytest

from sekisho.core.load import LARGEST
from sekisho.core.problem import PolicyError
from sekisho.session import settings

OPEN = 'version = 1\n[git]\npush = [{ ref = "*", gate = "auto" }]\n'


def written(folder: Path, text: str, name: str = "sekisho.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "device", "too-big", "unreadable"])
def test_what_is_no_plain_readable_file_is_an_error_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "sekisho.toml"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "too-big":
        path.write_bytes(b"#" * (LARGEST + 1))
    elif kind == "unreadable":
        path.symlink_to(path)
    with pytest.raises(PolicyError) as raised:
        settings.read_layer(path)
    assert str(path) in str(raised.value.problems[0])


def test_a_named_authority_must_be_there(tmp_path: Path) -> None:
    path = written(tmp_path, 'version = 1\n[network]\nca = "none.pem"\n')
    with pytest.raises(PolicyError, match=r"none\.pem"):
        settings.read_layer(path)


def test_the_digest_covers_the_files_that_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, 'version = 1\n[network]\nca = "ca.pem"\n')
    ca = written(tmp_path, "one", "ca.pem")
    before = settings.read_layer(path)
    ca.write_text("two")
    assert settings.read_layer(path).digest != before.digest
    assert before.policy.network.ca == str(ca.absolute())


def test_the_pinned_digest_names_every_layer(tmp_path: Path) -> None:
    one = settings.read_layer(written(tmp_path, OPEN, "one.toml"))
    two = settings.read_layer(written(tmp_path, OPEN + "# other\n", "two.toml"))
    digests = {settings.pin(*layers).digest for layers in [(None, None), (None, one), (None, two)]}
    assert len(digests) == 3
    assert settings.pin(None, one).layers == (one,)


def test_a_policy_survives_its_way_to_the_gatekeeper(tmp_path: Path) -> None:
    pinned = settings.pin(None, settings.read_layer(written(tmp_path, OPEN)))
    assert settings.decode(settings.encode(pinned.policy)) == pinned.policy


def test_a_project_without_a_file_has_no_layer(tmp_path: Path) -> None:
    assert settings.project_layer(tmp_path) is None
    written(tmp_path, OPEN)
    layer = settings.project_layer(tmp_path)
    assert layer is not None
    assert layer.path == tmp_path / settings.PROJECT_FILE


def test_a_dangling_link_is_not_no_policy(tmp_path: Path) -> None:
    """Fail closed: something stands there that was meant to be a policy."""
    (tmp_path / settings.PROJECT_FILE).symlink_to(tmp_path / "away")
    with pytest.raises(PolicyError):
        settings.project_layer(tmp_path)
