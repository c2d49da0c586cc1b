"""The command line called in this very process."""

import pytest

from sekisho.cli.main import main
from tests.support.upstream import Result


class Calling:
    """`call("approvals", "list")`: how it ended, and what it printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *args: object) -> Result:
        self.monkeypatch.setattr("sys.argv", ["sekisho", *map(str, args)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = self.capsys.readouterr()
        status = ended.value.code
        assert isinstance(status, int) or status is None
        return Result(status=status or 0, out=printed.out, err=printed.err)
