"""A held call that stays open (`run --wait`): what its client is told meanwhile, and how it ends.

git shows what comes in side-band 2 while it waits. Other clients can be shown nothing before the status is
known: Python's http.client and Java's HttpURLConnection take an interim answer (102) for the final one.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from netpolicy.git import report
from netpolicy.git.receive import Push, parse
from netpolicy.ports import Begin, Body, Reply
from netpolicy.request import Request
from sekisho.broker import push_replies
from sekisho.broker.holding import Held
from sekisho.broker.replies import refusal_reply
from sekisho.broker.waiting import Wait, Waiting, due
from sekisho.core.refusal import Refusal
from sekisho.core.units import render_duration
from sekisho.store.holds import Hold


def push(waiting: Waiting, held: Held, request: Request, body: Body, wait: Wait) -> Begin:
    """Answer a held push as it waits."""
    push = parse(request.body or b"")
    reply = Reply(status=200, reason="OK", headers=report.HEADERS)
    return Begin(reply=reply, rest=_words(waiting, held, push, body.size, wait))


async def _words(
    waiting: Waiting, held: Held, push: Push, size: int, wait: Wait
) -> AsyncGenerator[bytes, None]:
    refs = ", ".join(command.ref for command in push.commands)
    digest = held.digest.removeprefix("sha256:")[:12]
    said = f"sekisho: push {refs} ({size} bytes, sha256 {digest}...) held for approval {wait.hold}"
    yield report.progress(push, f"{said} {_clock(0, wait)}")
    last = 0.0
    async with aclosing(waiting.watch(wait)) as words:
        async for word in words:
            if isinstance(word, Hold):
                yield push_replies.decided_reply(push, word).body
                return
            if due(word, last):
                last = word
                yield report.progress(push, f"sekisho: waiting for approval {wait.hold} {_clock(word, wait)}")
    yield push_replies.reject(push, _undecided(held, wait)).body


def undecided_reply(held: Held, request: Request, wait: Wait) -> Reply:
    """The answer to a call for which nobody decided in time."""
    return refusal_reply(_undecided(held, wait), request)


def _undecided(held: Held, wait: Wait) -> Refusal:
    assert held.refusal is not None
    why = f"{held.refusal.why}; this call waited {render_duration(wait.seconds)} and nobody decided"
    return msgspec.structs.replace(held.refusal, why=why)


def _clock(elapsed: float, wait: Wait) -> str:
    return f"[{elapsed:.0f}s/{wait.seconds:.0f}s]"
