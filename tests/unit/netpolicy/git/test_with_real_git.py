"""The push advertisement, the parser and the report, with the real git on the other end."""

from pathlib import Path

import pytest

from netpolicy.git.advertise import to_receive_pack
from netpolicy.git.receive import Push, parse
from netpolicy.git.report import probe_answer, rejection
from tests.unit.netpolicy.git.repository import fetch_advertisement, git, make_pair, push_server

REASON = "held: approval H-7 (push to main)"


def answer(body: bytes) -> bytes:
    push = parse(body)
    return probe_answer() if push.probe else rejection(push, REASON, remote=("sekisho: held as H-7",))


def push(folder: Path, *arguments: str, object_format: str = "sha1") -> tuple[int, str, list[Push]]:
    upstream, clone = make_pair(folder, object_format=object_format)
    git(clone, "branch", "-q", "other")
    stray = git(clone, "commit-tree", "HEAD^{tree}", "-m", "stray").stdout.decode().strip()
    git(clone, "branch", "-q", "stray", stray)
    before = git(upstream, "for-each-ref").stdout
    with push_server(to_receive_pack(fetch_advertisement(upstream)), answer) as (url, bodies):
        done = git(clone, "push", *arguments[:-1], url, *arguments[-1].split(), check=False)
    assert git(upstream, "for-each-ref").stdout == before
    return done.returncode, (done.stdout + done.stderr).decode(), [parse(body) for body in bodies]


def test_git_prints_the_rejection_and_exits_1(tmp_path: Path) -> None:
    status, output, pushes = push(tmp_path, "main")
    assert status == 1
    assert f"! [remote rejected] main -> main ({REASON})" in output
    assert "remote: sekisho: held as H-7" in output
    assert "Everything up-to-date" not in output
    assert [command.op for command in pushes[-1].commands] == ["update"]
    assert pushes[-1].pack_offset is not None


@pytest.mark.parametrize("option", ["-q", "--porcelain", "--atomic", "--no-progress", "--verbose", "--thin"])
def test_git_prints_the_rejection_with(option: str, tmp_path: Path) -> None:
    status, output, pushes = push(tmp_path, option, "main other")
    assert status == 1
    assert "[remote rejected]" in output
    assert REASON in output
    assert {command.ref for command in pushes[-1].commands} == {"refs/heads/main", "refs/heads/other"}


def test_delete_and_forced_update_are_seen(tmp_path: Path) -> None:
    status, output, pushes = push(tmp_path, ":v1 +stray:main")
    assert status == 1
    assert output.count("[remote rejected]") == 2
    assert {(command.ref, command.op) for command in pushes[-1].commands} == {
        ("refs/tags/v1", "delete"),
        ("refs/heads/main", "update"),
    }


def test_push_options_are_seen(tmp_path: Path) -> None:
    status, _, pushes = push(tmp_path, "-o", "ci.skip", "-o", "merge_request.create", "main")
    assert status == 1
    assert pushes[-1].push_options == ("ci.skip", "merge_request.create")


def test_many_refs_are_each_rejected(tmp_path: Path) -> None:
    upstream, clone = make_pair(tmp_path)
    for number in range(200):
        git(clone, "update-ref", f"refs/heads/branch-{number}", "HEAD")
    with push_server(to_receive_pack(fetch_advertisement(upstream)), answer) as (url, bodies):
        done = git(clone, "push", url, "refs/heads/*", check=False)
    assert done.returncode == 1
    assert done.stderr.count(b"[remote rejected]") == 201
    assert len(parse(bodies[-1]).commands) == 201


def test_big_push_probes_first_and_then_comes_chunked(tmp_path: Path) -> None:
    upstream, clone = make_pair(tmp_path)
    (clone / "big").write_bytes(bytes(range(256)) * 64)
    git(clone, "add", "big")
    git(clone, "commit", "-q", "-m", "big")
    with push_server(to_receive_pack(fetch_advertisement(upstream)), answer) as (url, bodies):
        done = git(clone, "-c", "http.postBuffer=100", "push", url, "main", check=False)
    assert done.returncode == 1
    assert REASON.encode() in done.stderr
    assert parse(bodies[0]).probe
    assert bodies[0] == b"0000"
    assert not parse(bodies[1]).probe


def test_sha256_repository(tmp_path: Path) -> None:
    status, output, pushes = push(tmp_path, "main", object_format="sha256")
    assert status == 1
    assert REASON in output
    assert len(pushes[-1].commands[0].new) == 64


def test_empty_repository_takes_a_first_push(tmp_path: Path) -> None:
    _, clone = make_pair(tmp_path)
    empty = tmp_path / "empty.git"
    git(tmp_path, "init", "-q", "--bare", str(empty))
    with push_server(to_receive_pack(fetch_advertisement(empty)), answer) as (url, bodies):
        done = git(clone, "push", url, "main", check=False)
    assert done.returncode == 1
    assert parse(bodies[-1]).commands[0].op == "create"


def test_advertised_refs_are_those_receive_pack_shows(tmp_path: Path) -> None:
    upstream, _ = make_pair(tmp_path)
    theirs = git(upstream, "receive-pack", "--http-backend-info-refs", ".", check=False).stdout
    ours = to_receive_pack(fetch_advertisement(upstream))

    def refs(raw: bytes) -> set[bytes]:
        return {part.split(b"\x00")[0][-60:] for part in raw.split(b"\n") if b" refs/" in part}

    assert len(refs(ours)) == 2
    assert {ref.split(b" ")[1] for ref in refs(ours)} == {ref.split(b" ")[1] for ref in refs(theirs)}


def test_shallow_clone_pushes(tmp_path: Path) -> None:
    upstream, clone = make_pair(tmp_path)
    git(clone, "push", "-q", str(upstream), "main")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{upstream}", "shallow")
    shallow = tmp_path / "shallow"
    git(shallow, "commit", "-q", "--allow-empty", "-m", "three")
    with push_server(to_receive_pack(fetch_advertisement(upstream)), answer) as (url, bodies):
        done = git(shallow, "push", url, "HEAD:refs/heads/x", check=False)
    assert done.returncode == 1
    assert parse(bodies[-1]).commands[0].ref == "refs/heads/x"
