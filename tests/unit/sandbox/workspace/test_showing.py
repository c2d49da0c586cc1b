"""A person who looks at a held push can see all that it sends, or is told what is left out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.workspace import describing, sentlog, showing
from sandbox.workspace.differences import LARGEST_FILE, MOST_NAMED, legible
from sandbox.workspace.hold_repo import HeldPush
from sandbox.workspace.model import Workspace
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Agent
from tests.unit.sandbox.workspace.test_hold_repo import ZERO, Pusher, Update

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture
def pusher(begin: Callable[..., tuple[Workspace, Agent]], tmp_path: Path) -> Pusher:
    workspace, agent = begin()
    return Pusher(workspace, agent, tmp_path / "holds/H-1.git")


def push(pusher: Pusher, new: str) -> HeldPush:
    start = pusher.workspace.start or ""
    return pusher.push(Update(ZERO, new, "refs/heads/x"), has=[start], known=[start])


def shown(held: HeldPush) -> bytes:
    return Path(held.diff).read_bytes()


def test_messages_are_shown_in_full(pusher: Pusher) -> None:
    pusher.agent.write("x", "x")
    held = push(pusher, pusher.agent.commit("Tidy\n\nthe body\n# commit of mine"))
    assert b"    the body\n    # commit of mine\n" in shown(held)
    assert held.refs[0].log[0].message == b"Tidy\n\nthe body\n# commit of mine\n"


def test_what_is_added_and_removed_again_is_listed_and_shown(pusher: Pusher) -> None:
    pusher.agent.write("gone.txt", "was here\n")
    pusher.agent.commit("add")
    pusher.agent.git("rm", "-q", "gone.txt")
    pusher.agent.write("kept.txt", "kept\n")
    held = push(pusher, pusher.agent.commit("remove"))
    assert [commit.paths for commit in held.refs[0].log] == [
        (b"D\tgone.txt", b"A\tkept.txt"),
        (b"A\tgone.txt",),
    ]
    assert b"A\tgone.txt\n" in shown(held)
    assert b"+was here\n" in shown(held)
    assert not held.diff_cut


def test_annotated_tags_are_shown_one_around_the_other(pusher: Pusher) -> None:
    pusher.agent.git("tag", "-a", "inner", "-m", "inner words", "HEAD")
    pusher.agent.git("tag", "-a", "outer", "-m", "outer words", "inner")
    tag, start = pusher.agent.git("rev-parse", "outer"), pusher.workspace.start or ""
    held = pusher.push(Update(ZERO, tag, "refs/tags/outer"), has=[start], known=[start])
    assert [b"outer words" in held.refs[0].tags[0], b"inner words" in held.refs[0].tags[1]] == [True, True]
    assert b"    outer words\n" in shown(held)
    assert b"    inner words\n" in shown(held)


def test_a_ref_to_a_tree_is_shown_with_its_files(pusher: Pusher) -> None:
    pusher.agent.write("x", "in a tree\n")
    pusher.agent.git("add", "x")
    tree = pusher.agent.git("write-tree")
    held = pusher.push(Update(ZERO, tree, "refs/tags/tree"))
    assert "it points at a tree of" in held.refs[0].notes[0]
    assert b"+in a tree\n" in shown(held)


def test_a_large_file_is_named_with_its_size_beside_the_rest(pusher: Pusher) -> None:
    pusher.agent.write("a-big.txt", b"a line\n" * LARGEST_FILE)
    pusher.agent.write("z-last.txt", "the last\n")
    held = push(pusher, pusher.agent.commit("big"))
    assert b"# a-big.txt: %d bytes, too large to be shown\n" % (7 * LARGEST_FILE) in shown(held)
    assert b"+the last\n" in shown(held)
    assert held.diff_cut
    assert len(shown(held)) < LARGEST_FILE


def test_text_with_a_null_byte_is_said_and_shown(pusher: Pusher) -> None:
    pusher.agent.write("notes.txt", b"some words\0\n")
    pusher.agent.write("real.bin", bytes(range(256)))
    held = push(pusher, pusher.agent.commit("odd"))
    assert b"# notes.txt: text with 1 null bytes, which git takes for no text\n" in shown(held)
    assert b"+some words\0\n" in shown(held)
    assert b"# real.bin: 256 bytes that are no text\n" in shown(held)


def test_older_commits_than_are_listed_are_counted(pusher: Pusher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describing, "MOST_COMMITS", 2)
    monkeypatch.setattr(showing, "MOST_COMMITS", 3)
    for number in range(5):
        pusher.agent.write("x", str(number))
        new = pusher.agent.commit(f"number {number}")
    held = push(pusher, new)
    assert (len(held.refs[0].log), held.refs[0].more) == (2, 3)
    assert b"# commits that are sent: 5, newest first\n" in shown(held)
    assert b"# 2 older commits are not listed\n" in shown(held)
    assert held.diff_cut


def test_what_does_not_fit_is_named(pusher: Pusher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "LARGEST", 5000)
    monkeypatch.setattr(sentlog, "MOST_PATHS", 3)
    for number in range(MOST_NAMED):
        pusher.agent.write(f"f{number:03}", "line\n" * 20)
    held = push(pusher, pusher.agent.commit("many"))
    assert held.diff_cut
    assert (len(held.refs[0].log[0].paths), held.refs[0].log[0].more_paths) == (3, MOST_NAMED - 3)
    assert b"# cut here; not shown, or not to its end:\n" in shown(held)
    assert b"\n#   f%03d\n" % (MOST_NAMED - 1) in shown(held)
    assert len(shown(held)) < 3 * 5000


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"plain\n", True),
        ("voll schön\n".encode(), True),
        (b"with a null\0 in it\n", True),
        ("UTF-16".encode("utf-16-le"), True),
        (b"\0" * 40 + b"x", False),
        (b"\xff\xfe\x80", False),
        (b"\x01\x02\x03\x04", False),
    ],
)
def test_text_is_what_a_person_could_read(content: bytes, text: bool) -> None:
    assert legible(content) is text
