"""Copies of what sessions made, for a repository whose refs of sessions may be gone."""

from pathlib import Path

import msgspec
import pytest

from sandbox.workspace.model import Workspace
from sandbox.workspace.provenance import Made
from sekisho.session import records
from tests.support.git import git_output, run_git

MADE = Made(commits=frozenset(["a" * 40]), blobs=frozenset(["b" * 40]))


def workspace(top: Path, session: str = "s1") -> Workspace:
    git_dir = str(top / ".git")
    return Workspace(
        session=session,
        repo=str(top),
        git_dir=git_dir,
        common_dir=git_dir,
        objects=f"{git_dir}/objects",
        alternates=(),
        clone=str(top),
        object_format="sha1",
        prefix="",
        branch=None,
        start=None,
        base=None,
        refs={},
    )


@pytest.fixture
def recorded(tmp_path: Path) -> Workspace:
    """A repository with the record of a session."""
    run_git("init", "-q", str(tmp_path / "repo"), cwd=tmp_path)
    (tmp_path / "record").write_bytes(msgspec.json.encode(MADE, order="deterministic"))
    oid = git_output("hash-object", "-w", str(tmp_path / "record"), cwd=tmp_path / "repo")
    run_git("update-ref", "refs/sekisho/s1/made", oid, cwd=tmp_path / "repo")
    return workspace(tmp_path / "repo")


def test_a_copy_outlives_the_ref_and_counts_for_its_repository_alone(
    tmp_path: Path, recorded: Workspace
) -> None:
    records.keep(tmp_path / "state", recorded)
    run_git("update-ref", "-d", "refs/sekisho/s1/made", cwd=tmp_path / "repo")
    records.keep(tmp_path / "state", recorded)  # collected again, with nothing to copy
    assert records.kept(tmp_path / "state", workspace(tmp_path / "repo", "s2")) == {"s1": MADE}
    assert records.kept(tmp_path / "state", workspace(tmp_path / "other")) == {}


def test_a_copy_is_the_owner_s_alone(tmp_path: Path, recorded: Workspace) -> None:
    records.keep(tmp_path / "state", recorded)
    paths = [tmp_path / "state/made", *(tmp_path / "state/made").rglob("*")]
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o700, 0o700, 0o600]


def test_a_damaged_copy_is_no_record(tmp_path: Path, recorded: Workspace) -> None:
    records.keep(tmp_path / "state", recorded)
    (file,) = (path for path in (tmp_path / "state/made").rglob("s1"))
    file.write_bytes(b"{")
    with pytest.raises(msgspec.MsgspecError):
        records.kept(tmp_path / "state", recorded)
