"""Durations, sizes and rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core import units


@pytest.mark.parametrize(
    "text, seconds",
    [("30m", 1800.0), ("2h", 7200.0), ("14d", 1209600.0), ("1h30m", 5400.0), ("500ms", 0.5), ("1.5s", 1.5)],
)
def test_duration(text: str, seconds: float) -> None:
    assert units.duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "30", "m", "-1h", "0s", "1m1h", "1h1h", "1 month", "inf", "nan", "1e3s", "٣m"]
)
def test_bad_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        units.duration(text)


@pytest.mark.parametrize(
    "text, count",
    [
        ("4G", 4 << 30),
        ("512M", 512 << 20),
        ("1KiB", 1024),
        ("1KB", 1000),
        ("7", 7),
        ("1.5K", 1536),
        ("2 G", 2 << 30),
    ],
)
def test_size(text: str, count: int) -> None:
    assert units.size(text) == count


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "4X", "4GiBB", "1e9", "0.0001"])
def test_bad_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|byte"):
        units.size(text)


@pytest.mark.parametrize("text, pair", [("60/m", (60, 60.0)), ("5/10m", (5, 600.0)), ("1 / h", (1, 3600.0))])
def test_rate(text: str, pair: tuple[int, float]) -> None:
    assert units.rate(text) == pair


@pytest.mark.parametrize("text", ["", "60", "0/m", "60/", "60/x", "/m", "-1/m"])
def test_bad_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rate|duration"):
        units.rate(text)


@given(st.integers(1, 10**12))
def test_what_is_rendered_reads_back(number: int) -> None:
    assert units.size(units.render_size(number)) == number
    assert round(units.duration(units.render_duration(number / 1000)) * 1000) == number
    assert units.rate(units.render_rate(number % 1000 + 1, 60.0)) == (number % 1000 + 1, 60.0)
