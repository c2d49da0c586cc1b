"""Runs are found where a regular expression finds them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from netpolicy.alphabet import Alphabet


@given(
    st.lists(st.sampled_from([b"a", b"ab0", b" ", b".", b"B" * 9, b"x" * 31, b"\xff"]), max_size=60),
    st.integers(8, 50),
    st.sampled_from([1, 512]),
    st.sampled_from([2, 4]),
)
def test_runs_are_found_whole_and_in_order(
    parts: list[bytes], shortest: int, times: int, stride: int
) -> None:
    data = b"".join(parts) * times
    wanted = [match.span() for match in re.finditer(rb"[a-zA-Z0-9]{%d,}" % shortest, data)]
    letters = Alphabet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    assert list(letters.spans(data, shortest, stride)) == wanted
    assert letters.runs(data, shortest) == [data[start:end] for start, end in wanted]
