"""What was decided is told to whoever waits, also while another decision's file cannot be written."""

import asyncio
import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from sekisho.broker import deliver as module
from sekisho.broker.deliver import deliver
from sekisho.broker.door import Door
from sekisho.core.lifecycle import State
from sekisho.session.outbox import DECISIONS
from tests.unit.store.support import DAY, DIGEST, push


@pytest.fixture
def door(sekisho_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    monkeypatch.setattr(module, "EVERY", 0.01)
    made = Door(lambda reason, refused: True)
    yield made
    made.close()


def _denied(door: Door, target: str) -> str:
    hold = door.open().ledger.hold(
        session="s",
        project="/p",
        action=push(target),
        digest=DIGEST,
        artifact={},
        evidence={},
        fingerprint=target,
        ttl=DAY,
    )
    return door.open().ledger.deny(hold.id, "kim", "no").id


async def _until(door: Door, folder: Path, told: list[str], wanted: Path) -> None:
    task = asyncio.create_task(deliver(door, "s", folder, lambda hold: told.append(hold.id)))
    async with asyncio.timeout(20):
        while not wanted.is_file():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_file_that_cannot_be_written_keeps_no_other_waiting_and_is_tried_again(
    door: Door, tmp_path: Path
) -> None:
    first, second = _denied(door, "a"), _denied(door, "b")
    folder = tmp_path / DECISIONS
    in_the_way = folder / f"{first}.json"
    (in_the_way / "x").mkdir(parents=True)
    told: list[str] = []
    asyncio.run(_until(door, tmp_path, told, folder / f"{second}.json"))
    assert told == [first, second]
    assert not in_the_way.is_file()

    async def both() -> None:
        task = asyncio.create_task(deliver(door, "s", tmp_path, lambda hold: None))
        await asyncio.sleep(0.2)
        (in_the_way / "x").rmdir()
        in_the_way.rmdir()
        async with asyncio.timeout(20):
            while not in_the_way.is_file():
                await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(both())
    assert json.loads(in_the_way.read_text())["state"] == "denied"


def _held(door: Door, session: str, ttl: float) -> str:
    return (
        door.open()
        .ledger.hold(
            session=session,
            project="/p",
            action=push("t"),
            digest=DIGEST,
            artifact={},
            evidence={},
            fingerprint=session,
            ttl=ttl,
        )
        .id
    )


async def _told(
    door: Door, folder: Path, hold: str, act: Callable[[], object], asked: Collection[str]
) -> str:
    """What the session "s" is told of a hold after `act`, which is done once the hold has been seen."""
    (folder / DECISIONS).mkdir(exist_ok=True)
    seen = asyncio.Event()
    task = asyncio.create_task(deliver(door, "s", folder, lambda hold: seen.set(), asked))
    wanted = folder / DECISIONS / f"{hold}.json"
    async with asyncio.timeout(20):
        await seen.wait()
        assert not wanted.exists()
        act()
        while not wanted.is_file():
            await asyncio.sleep(0.01)
    task.cancel()
    return str(json.loads(wanted.read_text())["state"])


def test_a_hold_that_expires_under_a_session_is_told_then(door: Door, tmp_path: Path) -> None:
    hold = _held(door, "s", ttl=0.5)
    assert asyncio.run(_told(door, tmp_path, hold, lambda: None, ())) == "expired"


def test_an_approval_that_ends_unused_is_told(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(module.TOLD, State.APPROVED)  # that one is told before
    hold = _held(door, "s", ttl=DAY)
    told = asyncio.run(_told(door, tmp_path, hold, lambda: door.open().ledger.approve(hold, "kim", 1), ()))
    assert told == "pending"


@pytest.mark.parametrize("asked", [True, False])
def test_what_another_session_held_is_told_to_whoever_asked_too(
    door: Door, tmp_path: Path, asked: bool
) -> None:
    hold = _held(door, "other", ttl=DAY)
    mine = _held(door, "s", ttl=DAY)

    def decided() -> None:
        door.open().ledger.deny(hold, "no", "kim")
        door.open().ledger.deny(mine, "no", "kim")

    wanted = hold if asked else mine
    assert asyncio.run(_told(door, tmp_path, wanted, decided, {hold} if asked else ())) == "denied"
    assert (tmp_path / DECISIONS / f"{hold}.json").exists() is asked
