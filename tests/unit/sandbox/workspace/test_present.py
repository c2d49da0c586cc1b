"""What is written down of a person's tree before an agent works in it."""

from pathlib import Path

import pytest

from sandbox.workspace import present
from sandbox.workspace.source import inspect
from tests.support.needs import needs
from tests.unit.sandbox.workspace.people import Person

pytestmark = needs("git")


def recorded(person: Person, *changed: bytes) -> tuple[dict[bytes, str], str]:
    source = inspect(person.top)
    own, why = present.in_place(source, source.head, changed)
    return {path: oid for one in own for path, oid in one.files.items()}, why


def test_all_but_what_lies_there_as_committed(person: Person) -> None:
    person.write("new", "new\n")
    person.write("node_modules/m.js", "m\n")
    person.write("inner/.git/HEAD", "ref: refs/heads/main\n")
    person.write("inner/deep/file", "within\n")
    (person.top / "away").symlink_to("nowhere")
    person.git("update-index", "--assume-unchanged", "tool.sh")
    files, why = recorded(person, b"a.txt")
    assert why == ""
    assert files.keys() == {
        b"a.txt", b"new", b"node_modules/m.js", b"inner/deep/file", b"away", b"tool.sh"
    }  # fmt: skip
    assert files[b"new"] == person.git("hash-object", "new")


def test_content_of_a_filter_both_ways(person: Person) -> None:
    person.write(".gitattributes", "*.enc filter=turn\n")
    person.git("config", "filter.turn.clean", "rev")
    person.write("clean.enc", "abc\n")
    person.commit("encrypted")
    person.write('odd "name\n.enc', "xyz\n")
    source = inspect(person.top)
    own, why = present.in_place(source, source.head, [b'odd "name\n.enc'])
    assert why == ""
    plain, stored = own
    assert plain.files == {
        b"clean.enc": present.blob_id(b"abc\n", "sha1"),
        b'odd "name\n.enc': present.blob_id(b"xyz\n", "sha1"),
    }
    assert stored.files == {b'odd "name\n.enc': present.blob_id(b"zyx\n", "sha1")}


@pytest.mark.parametrize(("name", "most"), [("MOST_FILES", 1), ("MOST_BYTES", 5), ("MOST_FILES", 0)])
def test_past_the_bound_it_is_said_and_nothing_is_half_known(
    person: Person, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(present, name, most)
    person.write("node_modules/a", "12345\n")
    person.write("node_modules/b", "b\n")
    files, why = recorded(person)
    assert files == {}
    assert "too much to record" in why
    own, why = present.carried(inspect(person.top), ["node_modules"])
    assert own == ()
    assert "too much to record" in why


def test_a_head_that_moved_is_no_beginning(person: Person) -> None:
    assert present.in_place(inspect(person.top), "0" * 40, ()) == ((), "HEAD moved while the session began")


def test_carried_folders_by_their_content(person: Person, tmp_path: Path) -> None:
    person.write("node_modules/a", "12345\n")
    (own,), why = present.carried(inspect(person.top), ["node_modules"])
    assert (own.files, why) == ({b"node_modules/a": present.blob_id(b"12345\n", "sha1")}, "")
