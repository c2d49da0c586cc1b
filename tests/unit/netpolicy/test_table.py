import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.table import Paths, path_regex, row

_parts = st.sampled_from(
    ["/", "a", "ab", "/a", "/ab", "/**", "/**/", "*", "/*", "/{a,b}", "/<index>", "_x", "A", "K"]
)
_patterns = st.lists(_parts, max_size=5).map(lambda parts: "/" + "".join(parts))
_paths = st.lists(st.sampled_from(["/", "a", "b", "A", "_x", "_all", "K", "\n"]), max_size=8).map("".join)


@given(_patterns, _paths.map("/".__add__), st.booleans())
def test_a_path_is_among_those_that_the_whole_expression_fits(pattern: str, path: str, fold: bool) -> None:
    flags = re.DOTALL | re.IGNORECASE if fold else re.DOTALL
    fits = re.fullmatch(path_regex(pattern), path, flags) is not None
    assert Paths(pattern, fold=fold).has(path) is fits


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("/a/**", "/a/", True),
        ("/a/**", "/a/b/c", True),
        ("/a/**", "/ab", False),
        ("/**/x", "/x", True),
        ("/**/x", "/a/b/x/", True),
        ("/a/*", "/a/b/c", False),
        ("/<index>/y", "/_bulk/y", False),
        ("/{a,b}/c", "/b/c", True),
        ("/A", "/a", False),
    ],
)
def test_patterns_fit(pattern: str, path: str, fits: bool) -> None:
    assert Paths(pattern, fold=False).has(path) is fits


def test_what_holds_ignores_case() -> None:
    assert Paths("/Kill", fold=True).has("/\N{KELVIN SIGN}ILL")
    assert not Paths("/Kill", fold=False).has("/KILL")


@pytest.mark.parametrize("text", ["GET", "GET a", " /a", ""])
def test_a_malformed_row_is_refused_when_it_is_read(text: str) -> None:
    with pytest.raises(ValueError, match="not a row"):
        row(text, fold=False)
