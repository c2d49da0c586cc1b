"""What a person sees is visible, aligned and in one piece."""

import json
import time

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


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


ROW = ("1129-k7f2x", "/home/kim/work/a/project/of/kims", "claude -p " + "fix it " * 30)


@pytest.mark.usefixtures("terminal")
def test_a_table_fits_the_terminal_and_what_says_most_stays(capsys: pytest.CaptureFixture[str]) -> None:
    show.table(("ID", "PROJECT", "COMMAND"), [ROW, ("1", "/x", "bash")], long=("PROJECT", "COMMAND"))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == 80
    assert lines[1].startswith("1129-k7f2x  /home/kim/work/a/project/of/kims  claude -p fix")
    assert lines[1].endswith("…")


@pytest.mark.usefixtures("terminal")
def test_where_all_is_too_narrow_what_is_short_is_whole_and_paths_show_their_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    show.table(("ID", "PROJECT", "COMMAND"), [ROW], long=("PROJECT", "COMMAND"))
    assert capsys.readouterr().out.splitlines()[1] == "1129-k7f2x  …of/kims  claude …"
    show.table(("A", "B"), [("a longer word than fits", "short")])
    assert capsys.readouterr().out.splitlines()[1] == "a longer word than fits  short"


def test_a_table_for_a_pipe_is_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show.table(("ID", "PROJECT", "COMMAND"), [ROW], long=("COMMAND",))
    assert ROW[2].strip() in capsys.readouterr().out


def test_times_for_persons_are_local_and_name_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "XST-2")
    time.tzset()
    try:
        assert show.when(0.0) == show.local("1970-01-01T00:00:00.000Z") == "1970-01-01 02:00:00 XST"
        assert show.local("no time\n") == "no time"
    finally:
        monkeypatch.undo()
        time.tzset()


DIFF = "diff --git a/x b/x\n@@ -1 +1 @@\n-\x1b[32mold\n+new\n same\n"


@pytest.mark.usefixtures("terminal")
def test_a_diff_has_colour_on_a_terminal_and_none_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    show.block(DIFF, diff=True)
    out = capsys.readouterr().out
    assert "  | \x1b[31m-<U+001B>[32mold\x1b[0m\n" in out
    assert "  | \x1b[32m+new\x1b[0m\n" in out
    assert "  |  same\n" in out


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colour_gets_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, variable: dict[str, str]
) -> None:
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    show.block(DIFF, diff=True)
    show.heading("x")
    assert "\x1b" not in capsys.readouterr().out
