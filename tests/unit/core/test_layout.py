"""Lines of keys in TOML text."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core.layout import KeyPath, key_lines

TEXT = '''version = 1
a.b = 2  # [no.table]
"qu\\u0041" = 'x = 1'
[project]
protected = [
  "main",  # ] not the end
  "release/*",
]
long = """
fake = 1
[fake]
\\"""
"""
[[network.rule]]
host = "a"
examples = { match = ["x"], no_match = ["y", { z = 1 }] }
[[network.rule]]
  host = "b"
  [network.rule.deep]
  x = 1979-05-27 07:32:00
[[network.rule.list]]
k = 1
[[network.rule.list]]
k = [[1, 2],
  [3]]
[last]
q = """"quoted""""'''


def paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        yield (*path, key)
        yield from paths(inner, (*path, key))


@pytest.mark.parametrize(
    "path, line",
    [
        (("version",), 1),
        (("a", "b"), 2),
        (("quA",), 3),
        (("project",), 4),
        (("project", "protected", 1), 7),
        (("project", "long"), 9),
        (("network", "rule", 0, "host"), 15),
        (("network", "rule", 0, "examples", "no_match", 1, "z"), 16),
        (("network", "rule", 1), 17),
        (("network", "rule", 1, "deep", "x"), 20),
        (("network", "rule", 1, "list", 1, "k", 1), 25),
        (("last", "q"), 27),
    ],
)
def test_line_of_a_key(path: KeyPath, line: int) -> None:
    assert key_lines(TEXT)[path] == line


def test_every_key_has_a_line_and_nothing_else_has() -> None:
    assert set(key_lines(TEXT)) == set(paths(tomllib.loads(TEXT)))


@given(st.text("ab.=[]{}\"'#,\n\\ 1", max_size=40))
def test_whatever_is_toml_can_be_scanned(text: str) -> None:
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text.replace("\r\n", "\n"))
    assert set(paths(tree)) == set(lines)
