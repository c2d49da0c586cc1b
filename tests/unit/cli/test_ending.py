"""What is said at the end of a session of what it left held."""

from pathlib import Path

import msgspec
import pytest

from sekisho.cli.ending import commands_among, lines
from sekisho.sending import artifact
from sekisho.session.launch import Ended
from sekisho.store.handoff import Handoff, held_act
from sekisho.store.holds import Hold
from sekisho.store.store import Store
from tests.unit.store.support import held

CLEAN = artifact.encode(artifact.CommandAct(argv=("git", "clean"), cwd="/x", tool="/usr/bin/git"))


@pytest.fixture
def command(sekisho_home: Path) -> Hold:
    with Store() as store:
        return held(store, artifact=CLEAN, fingerprint="clean", digest="sha256:1")


@pytest.fixture
def push(sekisho_home: Path) -> Hold:
    with Store() as store:
        return held(store)


def said(tmp_path: Path, *holds: Hold) -> str:
    acts = tuple(map(held_act, holds))
    handoff = Handoff(
        session="1129-aaaaa",
        project=str(tmp_path),
        argv=("bash",),
        ended_because="the command ended",
        exit_status=0,
        duration=1.0,
        work=str(tmp_path),
        held=acts,
    )
    return "\n".join(lines(Ended(status=0, handoff=handoff, folder=tmp_path), commands_among(acts)))


def test_a_held_command_is_left_to_a_later_session_and_not_said_to_be_decided(
    tmp_path: Path, command: Hold
) -> None:
    told = said(tmp_path, command)
    assert f"held {command.id}" in told
    assert f"only a later session here can run, if it asks again: {command.id}" in told
    assert f"sekisho approvals deny {command.id} --reason TEXT" in told
    assert "decide:" not in told


def test_what_can_be_sent_is_to_be_decided(tmp_path: Path, push: Hold, command: Hold) -> None:
    told = said(tmp_path, push, command)
    assert "decide: sekisho approvals show ID" in told
    assert f"approvals deny {command.id} --reason" in told
    assert "later session" not in said(tmp_path, push)


def test_a_hold_that_is_on_record_no_more_is_no_command(push: Hold) -> None:
    gone = msgspec.structs.replace(held_act(push), id="H-NOPE22")
    assert commands_among((gone,)) == frozenset()
    assert commands_among(()) == frozenset()
