"""Which of the agent's refs come back."""

import pytest

from sandbox.workspace.choosing import choose, plain_packed_refs, ref_problem

A, B = "a" * 40, "b" * 40


def row(oid: str, name: bytes) -> bytes:
    return oid.encode() + b" " + name


def test_made_and_moved_refs_are_taken_and_removed_ones_named() -> None:
    listing = [row(A, b"refs/heads/main"), row(B, b"refs/heads/feat/x"), row(A, b"refs/tags/v1")]
    before = {"refs/heads/main": B, "refs/tags/v1": A, "refs/heads/gone": A}
    chosen = choose(listing, before)
    assert chosen.refs == {"heads/main": A, "heads/feat/x": B}
    assert chosen.deleted == ("refs/heads/gone",)
    assert chosen.notes == ()


def test_stash_comes_along_and_other_kinds_stay() -> None:
    listing = [row(A, b"refs/stash"), row(A, b"refs/replace/" + B.encode()), row(A, b"refs/sekisho/x/base")]
    assert choose(listing, {}).refs == {"stash": A}


@pytest.mark.parametrize(
    "name",
    [
        b"refs/heads/../../config",
        b"refs/heads/a\nb",
        b"refs/heads/a b",
        b"refs/heads/\x1b[2K",
        b"refs/heads/.hidden",
        b"refs/heads/x.lock",
        b"refs/heads/x.lock/y",
        b"refs/heads/a//b",
        b"refs/heads/a@{1}",
        b"refs/heads/a\\b",
        b"refs/heads/" + b"n" * 300,
    ],
)
def test_forbidden_name_is_noted_not_taken(name: bytes) -> None:
    chosen = choose([row(A, name), row(A, b"refs/heads/good")], {})
    assert chosen.refs == {"heads/good": A}
    assert len(chosen.notes) == 1
    assert chosen.notes[0].isprintable()


@pytest.mark.parametrize("name", [b"refs/heads/main", b"refs/heads/\xff\xfe", "refs/heads/日本".encode()])
def test_ordinary_and_odd_names_pass(name: bytes) -> None:
    assert ref_problem(name) is None
    assert len(choose([row(A, name)], {}).refs) == 1


def test_colliding_names_are_not_both_taken() -> None:
    chosen = choose([row(A, b"refs/heads/a"), row(A, b"refs/heads/a/b")], {})
    assert chosen.refs == {"heads/a": A}
    assert "collides" in chosen.notes[0]


def test_hundreds_of_refs_are_bounded() -> None:
    chosen = choose([row(A, b"refs/heads/%d" % n) for n in range(50)], {}, limit=20)
    assert len(chosen.refs) == 20
    assert chosen.notes == ("30 refs were not taken: more than 20 were made or moved",)


def test_rows_that_are_no_refs_are_skipped() -> None:
    assert choose([b"", b"zzz refs/heads/x", A.encode(), b"warning: something"], {}).refs == {}


def test_packed_refs_lose_only_the_rows_that_git_would_choke_on() -> None:
    rows = [row(A, b"refs/heads/../x"), row(A, b"refs/heads/b"), b"^" + B.encode(), row(B, b"HEAD"), b"junk"]
    content = b"# pack-refs with: peeled fully-peeled sorted \n" + b"\n".join(rows)
    assert plain_packed_refs(content) == b"# pack-refs with: sorted \n" + row(A, b"refs/heads/b\n")
