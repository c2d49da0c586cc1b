"""The list of images, with an engine that knows one of them."""

import json
from types import SimpleNamespace

import pytest

from sandbox.docker import engine
from sandbox.errors import EnclosureError
from tests.unit.cli.calling import Calling

BUILT = "sha256:0123456789abcdef"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    def inspect(_: object, tag: str) -> SimpleNamespace:
        if tag != "sekisho/base":
            raise EnclosureError("image-missing", "there is none", "")
        return SimpleNamespace(id=BUILT)

    monkeypatch.setattr(engine, "connect", lambda: None)
    monkeypatch.setattr(engine, "inspect", inspect)


def test_images_are_listed_in_columns_as_wide_as_they_need(call: Calling) -> None:
    head, *rows = call("image", "list").out.splitlines()
    assert head.split()[:3] == ["VARIANT", "NAME", "BUILT"]
    base = next(row for row in rows if row.startswith("base "))
    assert base[head.index("BUILT") :].split()[0] == BUILT[7:19]
    others = [row for row in rows if row is not base]
    assert others
    assert all(row[head.index("BUILT") :].startswith("- ") for row in others)


def test_scripts_get_the_whole_digest(call: Calling) -> None:
    listed = {row["variant"]: row["id"] for row in json.loads(call("image", "list", "--json").out)}
    assert (listed["base"], listed["python"]) == (BUILT, None)
