"""What tests of commands share."""

from pathlib import Path

import pytest

from tests.unit.cli.calling import Calling


@pytest.fixture
def call(sekisho_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Calling:
    """The command line, with a state folder of the test's own."""
    return Calling(monkeypatch, capsys)
