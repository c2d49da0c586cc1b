"""Watching what is held: what waits, what comes, what is decided."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from sekisho.cli.watching import news
from sekisho.core.lifecycle import State
from sekisho.store.store import Store
from tests.unit.store.support import held


def test_the_first_look_shows_what_waits_and_the_next_what_changed(sekisho_home: Path) -> None:
    with Store() as store:
        one, two = (held(store, fingerprint=name) for name in ("one", "two"))
    denied = msgspec.structs.replace(two, state=State.DENIED)
    assert news(None, [one, denied]) == [one]
    seen = {one.id: one.state}
    assert news(seen, [one]) == []
    assert news(seen, [one, denied]) == [denied]
    gone = msgspec.structs.replace(one, state=State.EXPIRED)
    assert news(seen, [gone]) == [gone]


def test_a_hold_is_told_as_it_comes_and_as_it_is_denied(sekisho_home: Path) -> None:
    with Store() as store:
        first = held(store, fingerprint="one")
        argv = [sys.executable, "-I", "-m", "sekisho", "approvals", "watch", "--json"]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as watching:
            try:
                assert watching.stdout is not None
                assert json.loads(watching.stdout.readline())["id"] == first.id
                second = held(store, fingerprint="two")
                assert json.loads(watching.stdout.readline())["id"] == second.id
                store.ledger.deny(first.id, "no", "somebody")
                told = json.loads(watching.stdout.readline())
                assert (told["id"], told["state"], told["reason"]) == (first.id, "denied", "no")
                watching.send_signal(signal.SIGINT)
                assert watching.wait(20) == 0
            finally:
                watching.kill()
