"""What a test needs from the machine: missing means skipped at home and failed in CI."""

import os
import shutil

import pytest


def in_ci() -> bool:
    """Whether this run must not skip: the environment says CI=true."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def needs(*tools: str) -> pytest.MarkDecorator:
    """A mark for tests that use `tools`, which are names of programs on PATH.

    Where one is missing the test is skipped, but with CI=true it runs and fails.
    """
    missing = [tool for tool in tools if shutil.which(tool) is None]
    reason = f"needs {', '.join(missing)}"
    if missing and in_ci():
        return pytest.mark.missing_in_ci(reason)
    return pytest.mark.skipif(bool(missing), reason=reason)


def skip_or_fail(reason: str) -> None:
    """Leave the running test, for what is found out only while it runs. Raises always."""
    if in_ci():
        pytest.fail(f"{reason} (with CI=true nothing may be missing)")
    pytest.skip(reason)
