"""What is said about a machine that cannot do it."""

from pathlib import Path

import pytest

from sandbox import check
from tests.support.needs import needs


@pytest.mark.unthreaded
@pytest.mark.sandbox
@needs("bwrap")
def test_this_machine_can() -> None:
    checks = check.preflight()
    assert check.failed(checks) == []
    assert "a sandbox with a network" in [one.name for one in checks]


@pytest.mark.parametrize(
    "answer, detail",
    [("bubblewrap 0.7.0", "version 0.7.0"), ("nonsense", "says 'nonsense'"), ("", "says ''")],
)
def test_bwrap_that_does_not_fit(
    answer: str, detail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho '{answer}'\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (bad,) = check.failed(check.preflight())
    assert bad.name == "bubblewrap"
    assert detail in bad.detail
    assert "Install bubblewrap" in bad.instead


def test_switched_off_namespaces_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_read", lambda path: "0" if "max_user" in path else None)
    (bad,) = [one for one in check.failed(check.preflight()) if one.name == "user namespaces"]
    assert "max_user_namespaces" in bad.detail


def test_no_attempt_after_a_failing_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "a sandbox with a network" not in [one.name for one in check.preflight()]
