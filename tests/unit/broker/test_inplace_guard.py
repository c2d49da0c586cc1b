"""The guard in place answers with a reason and a way on."""

import asyncio

from sekisho.broker.inplace_guard import guard
from sekisho.core.action import Action, Effect
from sekisho.core.refusal import label, to_terminal
from shim.protocol import Asked

ACTION = Action(verb="git.remote", target="origin", effect=Effect.LOCAL, reason="test")


def test_it_says_why_and_how() -> None:
    asked = Asked(argv=("git", "remote", "add", "up", "https://git.test/x"), cwd="/repo")
    refusal = asyncio.run(guard(asked, ACTION))
    assert refusal is not None
    assert label(refusal) == "denied"
    assert to_terminal(refusal) == (
        "sekisho: denied (not-in-place): git remote add up https://git.test/x\n"
        "  why: remotes are settings of the repository, and in place those stay the person's\n"
        "  next: do it outside the sandbox, or write the command into the handoff for the person\n"
    )


def test_others_pass() -> None:
    assert asyncio.run(guard(Asked(argv=("git", "remote", "-v"), cwd="/repo"), ACTION)) is None
