"""What a person sees is visible, aligned and in one piece."""

import json

import pytest

from sekisho.cli import show
from sekisho.cli.errors import Trouble, report

EVIL = "a\x1b[2J\u202eb\u200b\r\nc"
RAW = ("\x1b", "\u202e", "\u200b", "\r")


def test_a_table_has_one_line_a_row_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    show.table(("A", "B"), [(EVIL, "1"), ("short", "2")])
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 3
    assert not any(raw in out for raw in RAW)
    assert len({line.rindex(" ") for line in out.splitlines()}) == 1


def test_a_block_cannot_pass_for_our_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    show.block(f"first\nsekisho approvals approve H-1\n{EVIL}")
    out = capsys.readouterr().out
    assert all(line.startswith("  | ") for line in out.splitlines())
    assert not any(raw in out for raw in RAW)


def test_json_is_ascii_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    show.print_json({"text": EVIL, "surrogate": "\udcff"})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out) == {"text": EVIL, "surrogate": "\udcff"}


def test_trouble_is_shown_visibly_and_keeps_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(Trouble(EVIL, why=EVIL, instead=EVIL, status=69)) == 69
    err = capsys.readouterr().err
    assert err.startswith("sekisho: a<U+001B>")
    assert not any(raw in err for raw in RAW)
    assert "why:" in err
    assert "next:" in err


def test_trouble_without_a_way_on_says_only_what(capsys: pytest.CaptureFixture[str]) -> None:
    report(Trouble("it broke"))
    assert capsys.readouterr().err == "sekisho: it broke\n"


@pytest.mark.parametrize("seconds", [None, 0.0])
def test_times_for_scripts_are_utc(seconds: float | None) -> None:
    assert show.iso(seconds) == (None if seconds is None else "1970-01-01T00:00:00Z")


def test_a_long_cell_is_cut_in_the_same_line(capsys: pytest.CaptureFixture[str]) -> None:
    show.table(("A",), [("x" * 500,)])
    assert capsys.readouterr().out.splitlines()[1] == "x" * (show.WIDEST - 1) + "…"
