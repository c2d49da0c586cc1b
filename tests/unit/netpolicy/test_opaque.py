"""The quick searches find what the plain expressions do."""

import re

from hypothesis import given
from hypothesis import strategies as st

from netpolicy import opaque

_parts = st.sampled_from(
    ["word", "a1b2", "+", "-", "_", "=", "%", " ", "é", "ж", "9" * 7, "x7" * 13, "AKIA", "gh"]
)
_texts = st.lists(_parts, max_size=30).map("".join)


def _weight(text: str) -> int:
    total = 0
    for run in re.findall(r"[A-Za-z0-9+/_=.~-]{24,}", text):
        words = [
            word for word in re.split(r"[-_./=~+]", run) if re.fullmatch(r"[A-Za-z]{2,12}|[0-9]{1,4}", word)
        ]
        if sum(map(len, words)) * 2 < len(run) and re.search(r"[0-9]", run):
            total += len(run)
    return total


@given(_texts)
def test_the_weight_is_that_of_the_runs(text: str) -> None:
    assert opaque._weight(text) == _weight(text)


@given(_texts, st.from_regex(opaque._CREDENTIAL, fullmatch=True) | st.just(""), _texts)
def test_a_credential_is_found_wherever_it_stands(before: str, credential: str, after: str) -> None:
    text = before + credential + after
    assert (opaque._owner(text) is not None) is (opaque._CREDENTIAL.search(text) is not None)
