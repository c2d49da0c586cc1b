"""What was decided is told to the session: what it means, why, and what to do next."""

import json
from pathlib import Path

import pytest

from sekisho.broker.deliver import TOLD, tell
from sekisho.core.lifecycle import TABLE, State
from sekisho.store.store import Store
from tests.unit.store.support import held


def test_a_void_approval_says_why_and_what_next(sekisho_home: Path, tmp_path: Path) -> None:
    with Store() as store:
        hold = held(store)
        store.ledger.approve(hold.id, "me", 60)
        tell(tmp_path, store.ledger.void(hold.id, "the remote moved"))
    said = json.loads((tmp_path / f"{hold.id}.json").read_text())
    assert (said["state"], said["reason"]) == ("void", "the remote moved")
    assert "ask again" in said["next"]


@pytest.mark.parametrize("state", [state for state, events in TABLE.items() if not events])
def test_every_end_is_told(state: State) -> None:
    assert TOLD[state].startswith(str(state))
