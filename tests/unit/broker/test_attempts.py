"""What went nowhere: past the proxy, or to an address that it never dials."""

from pathlib import Path

from netpolicy.ports import Attempt
from sekisho.broker.door import Door
from sekisho.broker.gate import Gate
from sekisho.core.texts import TEXTS
from sekisho.store.store import Store


def test_what_was_asked_for_properly_is_denied_and_all_else_a_direct_attempt(sekisho_home: Path) -> None:
    door = Door(lambda reason, refused: True)
    door.open()
    gate = Gate(door)
    for reason in ("private-address", "no-listener"):
        gate.attempted("s", Attempt(protocol="tcp", address="x.test", port=443, name="x.test", reason=reason))
    door.close()
    with Store() as store:
        (denied,) = store.journal.query(session="s", kind="act.denied")
        (attempt,) = store.journal.query(session="s", kind="attempt.direct")
    assert (denied.data["code"], denied.data["action"]["target"]) == ("private-address", "x.test:443")
    assert denied.data["reason"] == TEXTS["private-address"].why
    assert denied.data["instead"] == TEXTS["private-address"].instead
    assert attempt.data["reason"] == "no-listener"
