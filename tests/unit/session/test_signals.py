"""Signals to a launcher while no command runs: told apart, kept off, and left ignored where they were."""

import signal

import pytest

from sekisho.session.signals import ENDING, Interrupted, interruptible, keeping


@pytest.mark.parametrize("number", ENDING, ids=lambda n: n.name)
def test_a_signal_interrupts_with_its_status(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(Interrupted) as caught, interruptible():
        signal.raise_signal(number)
    assert caught.value.status == 128 + number
    assert signal.getsignal(number) is before


def test_results_are_kept_from_signals(capsys: pytest.CaptureFixture[str]) -> None:
    with interruptible():
        with keeping():
            for number in ENDING:
                signal.raise_signal(number)
        assert capsys.readouterr().err.count("keeping the results") == len(ENDING)
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGTERM)


def test_what_is_ignored_stays_ignored() -> None:
    """nohup(1)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible(), keeping():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
