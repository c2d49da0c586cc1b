"""docs/dependencies.md has a reason for each dependency, with the range of pyproject.toml."""

import re
import tomllib

from tests.docs.pages import ROOT, page

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)(.*)")


def _declared(requirements: list[str]) -> dict[str, str]:
    matches = (_REQUIREMENT.fullmatch(text) for text in requirements)
    return {match[1]: match[2] for match in matches if match is not None}


def _said(header: str) -> dict[str, tuple[str, str]]:
    rows = list(page("docs/dependencies.md").rows(header))
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: (row[1].strip("`"), row[2]) for row in rows}


def test_every_dependency_has_a_reason_and_its_range() -> None:
    said = _said("package")
    assert {name: version for name, (version, _) in said.items()} == _declared(PROJECT["dependencies"])
    assert all(reason for _, reason in said.values())


def test_every_development_tool_has_a_reason_and_its_range() -> None:
    said = _said("tool")
    extras = _declared(PROJECT["optional-dependencies"]["dev"])
    assert {name: version for name, (version, _) in said.items()} == extras
    assert all(reason for _, reason in said.values())
