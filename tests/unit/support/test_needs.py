"""A missing tool is skipped at home and fails in CI."""

import pytest

from tests.support.needs import needs, skip_or_fail


def test_missing_tool_skips_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    mark = needs("sh", "no-such-tool").mark
    assert (mark.name, mark.args, mark.kwargs["reason"]) == ("skipif", (True,), "needs no-such-tool")
    with pytest.raises(pytest.skip.Exception):
        skip_or_fail("no engine")


def test_missing_tool_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    mark = needs("no-such-tool").mark
    assert (mark.name, mark.args) == ("missing_in_ci", ("needs no-such-tool",))
    with pytest.raises(pytest.fail.Exception, match="no engine"):
        skip_or_fail("no engine")


def test_present_tools_mark_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert needs("sh").mark.args == (False,)
