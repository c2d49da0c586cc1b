"""What was decided is told to whoever waits, also while another decision's file cannot be written."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sekisho.broker import deliver as module
from sekisho.broker.deliver import deliver
from sekisho.broker.door import Door
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
