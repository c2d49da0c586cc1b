"""What is tampered with in a hold's repository after the approval does not leave."""

import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.direct import opened
from tests.e2e.world import ZERO, World, make_world
from tests.support.git import git_output, run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("repository")) as made:
        yield made


Pushed = dict[str, dict[str, Any]]
NAMES = ("exchanged-blob", "exchanged-commit", "settings", "gone", "replaced")


@pytest.fixture(scope="module")
def pushed(world: World) -> Pushed:
    """One session's held pushes, by name: each of one new file, from the same beginning."""
    session = world.run(
        "git reset -q --hard; start=$(git rev-parse HEAD)\n"
        + "".join(
            f"git checkout -q -b {name} $start; echo 'the approved content of {name}' > {name}.txt\n"
            f"git add {name}.txt; git commit -qm 'Add {name}'; git push -q origin HEAD:refs/heads/{name}\n"
            for name in NAMES
        )
    )
    holds = {str(hold["target"]).rpartition("/")[2]: hold for hold in world.holds(session)}
    assert holds.keys() == set(NAMES), session.err
    return holds


def approved(world: World, pushed: Pushed, name: str) -> tuple[dict[str, Any], Path]:
    """A held and approved push, and the hold's repository."""
    hold = pushed[name]
    world.approve(hold, "--no-execute")
    with opened(world) as store:
        return hold, Path(store.ledger.get(str(hold["id"])).artifact["repository"])


def loose(repository: Path, oid: str) -> Path:
    """Where an object lies loose; packs, which would come first, are taken away."""
    for file in (repository / "objects" / "pack").iterdir():
        file.unlink()
    path = repository / "objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    return path


def overwrite(path: Path, kind: str, content: bytes) -> None:
    path.write_bytes(zlib.compress(f"{kind} {len(content)}".encode() + b"\0" + content))


def received_pushes(world: World) -> int:
    return len([r for r in world.pushes() if r["method"] == "POST"])


@pytest.mark.parametrize("kind", ["blob", "commit"])
def test_an_exchanged_object_is_not_sent(world: World, pushed: Pushed, kind: str) -> None:
    hold, repository = approved(world, pushed, f"exchanged-{kind}")
    name = f"exchanged-{kind}"
    spec = f"refs/held/0:{name}.txt" if kind == "blob" else "refs/held/0"
    oid = git_output("rev-parse", spec, cwd=repository)
    good = git_output("cat-file", kind, oid, cwd=repository).encode()
    overwrite(loose(repository, oid), kind, good.replace(b"approved", b"exchange").replace(b"Add ", b"Bad "))
    before = received_pushes(world)
    refused = world.sekisho("approvals", "approve", str(hold["id"]), cwd=world.repository)
    assert refused.status == 1, refused.out
    assert "Traceback" not in refused.err
    assert received_pushes(world) == before
    assert world.remote(f"refs/heads/{name}") == ZERO
    assert world.state(hold) == "void"


def test_settings_slipped_into_the_repository_count_for_nothing(
    world: World, pushed: Pushed, tmp_path: Path
) -> None:
    """What was approved goes where it was approved to, and no program is run for it."""
    hold, repository = approved(world, pushed, "settings")
    marker, script = tmp_path / "ran", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    script.chmod(0o755)
    elsewhere = tmp_path / "elsewhere.git"
    run_git("init", "--quiet", "--bare", str(elsewhere), cwd=tmp_path)
    for key, value in {
        f"url.{elsewhere}.pushInsteadOf": "https://git.test/x.git",
        "credential.helper": f"!{script}",
        "core.fsmonitor": str(script),
        "core.askPass": str(script),
        "http.proxy": "http://127.0.0.1:9",
        "push.gpgSign": "true",
        "gpg.program": str(script),
    }.items():
        run_git("config", key, value, cwd=repository)
    hooks = repository / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("pre-push", "reference-transaction"):
        shutil.copy(script, hooks / hook)
    world.approve(hold)
    assert world.remote("refs/heads/settings") != ZERO
    assert not marker.exists()
    assert git_output("for-each-ref", cwd=elsewhere) == ""


def test_a_repository_that_is_gone_is_not_pushed(world: World, pushed: Pushed) -> None:
    hold, repository = approved(world, pushed, "gone")
    shutil.rmtree(repository)
    refused = world.approve(hold, status=1)
    assert "nothing was sent" in refused.err
    assert world.remote("refs/heads/gone") == ZERO


def test_another_repository_in_its_place_does_not_have_the_object(
    world: World, pushed: Pushed, tmp_path: Path
) -> None:
    hold, repository = approved(world, pushed, "replaced")
    shutil.rmtree(repository)
    run_git("init", "--quiet", "--bare", str(repository), cwd=tmp_path)
    world.sekisho("approvals", "approve", str(hold["id"]), cwd=world.repository)
    assert world.remote("refs/heads/replaced") == ZERO
    assert world.state(hold) == "void"
