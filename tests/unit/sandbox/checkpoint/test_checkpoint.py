"""What a checkpoint brings back, what it says it does not, and that a hostile tree runs nothing."""

import shutil
from pathlib import Path

import pytest

from sandbox.checkpoint import taking
from sandbox.checkpoint.model import Checkpoint, CheckpointError, covers
from sandbox.checkpoint.points import load, points
from tests.support.needs import needs
from tests.unit.sandbox.checkpoint.conftest import Bench

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


def contents(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(top).parts
    }


def test_everything_deleted_comes_back(bench: Bench) -> None:
    agent = bench.agent
    agent.write("new/untracked.txt", "x\r\ny\r\n")
    agent.write(".gitattributes", "* text=auto\n")
    (agent.top / "run.sh").write_text("#!/bin/sh\n")
    (agent.top / "run.sh").chmod(0o755)
    before = contents(agent.top)
    status = agent.git("status", "--porcelain")
    checkpoint = bench.take()
    for path in agent.top.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    agent.write("later.txt", "made after it")
    restored = bench.restore(checkpoint)
    assert contents(agent.top) == before
    assert (agent.top / "link").readlink() == Path("a.txt")
    assert (agent.top / "run.sh").stat().st_mode & 0o111
    assert agent.git("status", "--porcelain") == status
    bench.restore(restored.before)
    assert contents(agent.top) == {"later.txt": b"made after it"}


def test_dropped_commits_branches_and_the_index_come_back(bench: Bench) -> None:
    agent = bench.agent
    agent.git("checkout", "-q", "-b", "feature")
    agent.write("f.txt", "1\n")
    tip = agent.commit("on feature")
    agent.write("staged.txt", "s\n")
    agent.git("add", "staged.txt")
    checkpoint = bench.take()
    agent.git("checkout", "-q", "-f", "main")
    agent.git("branch", "-D", "feature")
    agent.git("reflog", "expire", "--expire=now", "--all")
    agent.git("gc", "-q", "--prune=now")
    assert "missing" in agent.git_bytes("cat-file", "--batch-check", stdin=tip.encode()).decode()
    assert bench.restore(checkpoint).notes == ()
    assert agent.git("rev-parse", "HEAD", "feature") == f"{tip}\n{tip}"
    assert agent.git("symbolic-ref", "HEAD") == "refs/heads/feature"
    assert agent.git("status", "--porcelain") == "A  staged.txt"
    agent.git("rev-list", "--objects", "--all")


def test_detached_head_comes_back(bench: Bench) -> None:
    bench.agent.git("checkout", "-q", "--detach", "v1")
    checkpoint = bench.take()
    bench.agent.git("checkout", "-q", "-f", "main")
    bench.restore(checkpoint)
    assert bench.agent.git("rev-parse", "HEAD") == bench.agent.git("rev-parse", "v1")
    assert bench.agent.git("symbolic-ref", "-q", "HEAD", check=False) == ""


def test_nothing_changed_is_no_new_checkpoint(bench: Bench) -> None:
    first = bench.take("one")
    assert bench.take("two") == first
    bench.agent.write("x", "1")
    assert [bench.take("three").number, len(points(bench.store))] == [2, 2]
    bench.agent.git("branch", "b")
    assert bench.take("four").number == 3


def test_what_is_not_covered_is_said(bench: Bench) -> None:
    agent = bench.agent
    agent.write("node_modules/m/i.js", "1")
    agent.write("build.log", "1")
    agent.write("conf/.env", "S=1")
    agent.write("nested/f", "1")
    agent.git("init", "-q", "nested")
    checkpoint = bench.take()
    assert {b"node_modules/", b"build.log", b"conf/.env", b"nested/"} <= set(checkpoint.uncovered)
    assert not covers(checkpoint, [b"conf"])
    assert not covers(checkpoint, [b"nested"])
    assert covers(checkpoint, [b"src", b"a.txt"])


def test_a_committed_nested_repository_is_not_covered(bench: Bench) -> None:
    agent = bench.agent
    agent.write("nested/f", "1")
    agent.git("init", "-q", "nested")
    agent.git("-C", "nested", "add", "f")
    agent.git("-C", "nested", "commit", "-qm", "n")
    agent.git("-c", "advice.addEmbeddedRepo=false", "add", "nested")
    agent.git("commit", "-qm", "gitlink")
    assert b"nested/" in bench.take().uncovered


@pytest.mark.parametrize(
    "path, expected",
    [
        (b"src", True),
        (b"src/", True),
        (b"build", False),
        (b"build/x/y", False),
        (b"builds", True),
        (b"", False),
        (b".", False),
        (b"a", False),
        (b"a/b.log", False),
        (b"a/b.log2", True),
        (b"a/c", True),
    ],
)
def test_covers(path: bytes, expected: bool) -> None:
    checkpoint = Checkpoint(
        number=1,
        time=0,
        label="",
        commit="",
        tree="",
        head="",
        refs={},
        uncovered=(b"build/", b"a/b.log"),
    )
    assert covers(checkpoint, [path]) is expected


def test_too_many_ignored_paths_cover_nothing_by_name(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking, "_MOST_UNCOVERED", 2)
    for number in range(3):
        bench.agent.write(f"{number}.log", "x")
    checkpoint = bench.take()
    assert not covers(checkpoint, [b"src"])
    assert covers(checkpoint, [])


def test_nested_fsmonitor_and_hooks_do_not_run(bench: Bench, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    agent = bench.agent
    program = agent.program(marker)
    agent.git("init", "-q", "sub")
    agent.git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "x")
    for where in (".", "sub"):
        agent.git("-C", where, "config", "core.fsmonitor", str(program))
        agent.git("-C", where, "config", "core.hooksPath", str(program.parent))
        agent.git("-C", where, "config", "filter.x.clean", str(program))
    agent.write(".gitattributes", "* filter=x\n")
    marker.unlink(missing_ok=True)
    checkpoint = bench.take()
    bench.agent.write("a.txt", "other")
    bench.restore(checkpoint)
    assert not marker.exists()


def test_a_link_out_of_the_tree_is_not_written_through(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    checkpoint = bench.take()
    shutil.rmtree(bench.agent.top / "src")
    (bench.agent.top / "src").symlink_to(outside)
    bench.restore(checkpoint)
    assert list(outside.iterdir()) == []
    assert (bench.agent.top / "src/b.py").read_text() == "b = 1\n"


def test_a_linked_git_folder_gives_nothing_away(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("ref: hush")
    head = bench.agent.top / ".git/HEAD"
    head.unlink()
    head.symlink_to(tmp_path / "secret")
    assert bench.take().head == ""


def test_unknown_number_names_the_known_ones(bench: Bench) -> None:
    bench.take()
    with pytest.raises(CheckpointError, match="there are: 1"):
        load(bench.store, 7)


def test_what_cannot_be_taken_is_an_error(bench: Bench) -> None:
    shutil.rmtree(bench.agent.top)
    with pytest.raises(CheckpointError):
        bench.take()


def test_while_files_come_and_go(bench: Bench) -> None:
    """A writer at work does not stop it, and what it does not touch is in it."""
    import threading

    stop = threading.Event()

    def churn() -> None:
        count = 0
        while not stop.wait(0.001):
            count += 1
            (bench.agent.top / f"churn{count % 7}").write_text("x" * (count % 5000))
            (bench.agent.top / f"churn{(count + 3) % 7}").unlink(missing_ok=True)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for number in range(4):
            bench.agent.write("count", str(number))
            checkpoint = bench.take()
    finally:
        stop.set()
        thread.join()
    bench.agent.write("count", "lost")
    bench.restore(checkpoint)
    assert (bench.agent.top / "count").read_text() == "3"
