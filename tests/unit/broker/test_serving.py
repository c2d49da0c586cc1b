"""A gatekeeper that ends has on disk what it recorded, whatever failed in it before."""

import asyncio
from pathlib import Path

from sekisho.broker.door import Door
from sekisho.broker.serving import ended


def test_a_part_that_failed_is_named_and_what_was_recorded_is_kept(sekisho_home: Path) -> None:
    said: list[str] = []

    def note(reason: str, refused: int) -> bool:
        said.append(reason)
        return True

    done = False

    async def failing() -> None:
        raise RuntimeError("no luck")

    async def slow() -> None:
        nonlocal done
        await asyncio.sleep(0.05)
        done = True

    async def run() -> None:
        door = Door(note)
        door.open()
        assert door.record(session="s", kind="act.denied", subject="x")
        await ended(door, [asyncio.create_task(failing()), asyncio.create_task(slow())])

    asyncio.run(run())
    assert done
    assert said == ["a part of the gatekeeper failed: RuntimeError: no luck"]
    door = Door(note)
    assert [record.subject for record in door.open().journal.query(session="s")] == ["x"]
    door.close()
