import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.call import Call
from netpolicy.kinds import MODULES, module
from netpolicy.presets import shipped
from netpolicy.query import Query
from netpolicy.request import Request
from netpolicy.table import Paths, Table, path_regex, row

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


def _tables() -> list[Table]:
    kinds = [module(name) for name in MODULES]
    found = [value for one in kinds for value in vars(one).values()]
    found += [getattr(judge, "__self__", None) for one in kinds for judge in one.KINDS.values()]
    found += [preset.table for preset in shipped().by_name.values()]
    return list({id(one): one for one in found if isinstance(one, Table)}.values())


def _example(text: str) -> Call:
    """A request that a row names."""
    methods, _, rest = text.partition(" ")
    rest = re.sub(r"\{([^,}]*)[^}]*\}", r"\1", rest)
    for mark, part in (("<index>", "idx"), ("/**", "/x"), ("**", "x"), ("*", "x")):
        rest = rest.replace(mark, part)
    path, _, query = rest.partition("?")
    method = methods.split(",")[0].replace("*", "GET")
    request = Request(method=method, scheme="https", host="a.example", port=443, path=rest)
    return Call(request, host="a.example", path=path, query=Query(query))


def test_no_row_that_frees_is_hidden_by_one_that_holds() -> None:
    tables = _tables()
    assert len(tables) > 50
    for table in tables:
        for text in table.freeing:
            assert table.held(_example(text)) is None, (table.name, text)
            assert table.freed(_example(text)) is not None, (table.name, text)
