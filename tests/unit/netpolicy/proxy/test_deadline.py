"""A deadline is over once what it waits for came; another one takes its place."""

import asyncio

from netpolicy.proxy.deadline import Deadline


async def _called(*steps: str) -> list[str]:
    called: list[str] = []
    deadline = Deadline()
    for step in steps:
        if step == "clear":
            deadline.clear()
        else:
            deadline.set(0.0, lambda step=step: called.append(step))  # type: ignore[misc]
    await asyncio.sleep(0.02)
    deadline.clear()
    return called


def test_only_what_did_not_come_is_late() -> None:
    assert asyncio.run(_called("head")) == ["head"]
    assert asyncio.run(_called("head", "clear")) == []
    assert asyncio.run(_called("head", "body")) == ["body"]
    assert asyncio.run(_called("clear", "clear")) == []
