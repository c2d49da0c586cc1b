"""Answers that come too late: somebody else has decided between a command's look and its answer."""

from pathlib import Path

import pytest

from sekisho.cli import approvals
from sekisho.cli.main import main
from sekisho.core.lifecycle import State
from sekisho.store.holds import Hold
from sekisho.store.store import Store
from tests.unit.store.support import held


@pytest.fixture
def unsettled(sekisho_home: Path) -> Hold:
    """A hold whose execution ended unknown, as it was before another person settled it."""
    with Store() as store:
        hold = held(store)
        store.ledger.approve(hold.id, "me", 60)
        store.ledger.consume(hold.id, None, hold.digest)
        store.ledger.finish(hold.id, State.UNKNOWN, {})
        before = store.ledger.get(hold.id)
        store.ledger.settle(hold.id, State.DONE, "another")
    return before


def test_a_settlement_that_comes_second_is_told(
    unsettled: Hold, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(approvals, "_get", lambda store, hold_id: unsettled)
    monkeypatch.setattr("sys.argv", ["sekisho", "approvals", "settle", unsettled.id, "failed"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert f"{unsettled.id} was not settled" in capsys.readouterr().err
    with Store() as store:
        assert store.ledger.get(unsettled.id).state is State.DONE
