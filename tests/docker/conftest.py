"""Every test here needs an engine and our base image."""

import pytest

from tests.docker import lab


@pytest.fixture(scope="session", autouse=True)
def base_image() -> None:
    """Skipped without an engine, in CI failed; the image is built before anything is timed."""
    lab.image()
