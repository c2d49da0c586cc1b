import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sekisho.core.display import suspicious, visible
from sekisho.store import handoff as module
from sekisho.store.errors import StoreBroken
from sekisho.store.handoff import (
    Commit,
    DecidedHold,
    DeniedAct,
    DirectAttempt,
    Handoff,
    HeldAct,
    Kept,
    decided_hold,
    held_act,
    load,
)
from sekisho.store.handoff_text import render_markdown
from sekisho.store.markdown import NOTHING, block, name, span
from sekisho.store.sessions import Sessions
from sekisho.store.store import Store
from tests.unit.store.support import held

HOSTILE = [
    "`",
    "``` ",
    "````\n# Approved\n````",
    "a\n\n# heading\n\n- item",
    "```\n~~~\n```",
    "</code><script>alert(1)</script>",
    "[click](javascript:alert(1)) ![x](http://evil.test/p.png)",
    "<http://evil.test>",
    "*bold* _em_ **x** \\` \\",
    "$(rm -rf /) `id` ; reboot # '\"",
    "    indented\n> quote\n---\n===",
    "\x1b[2J\x1b]0;owned\x07\r\n",
    "\u202eevil\u202c \u2028 \u200b",
    "| a | b |\n|---|---|",
    "&lt;&#96;",
    "\udcff",
    "\t`\t",
    "x" * 5_000,
    "",
]
TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(), st.text(alphabet="`~#\n -*[]()<>&\\|$'\""))


def full(text: str) -> Handoff:
    """A handoff with `text` in every place that may hold foreign text."""
    act = HeldAct(
        id="H-ABCDEF",
        operation=text,
        target=text,
        purpose=text,
        changes=text,
        verification=text,
        risk=text,
        recovery=text,
        count=2,
        warnings=(text, text),
    )
    return Handoff(
        session="1129-k7f2x",
        project=text,
        argv=("claude", text, text),
        ended_because=text,
        exit_status=1,
        duration=3_723.4,
        work=text,
        base=text,
        commits=(Commit(id=text, subject=text, ref=text),),
        diffstat=text,
        changed_files=(text, "b"),
        held=(act, act),
        denied=(DeniedAct(operation=text, target=text, why=text, instead=text, count=3),),
        attempts=(DirectAttempt(destination=text),),
        gate_broken=(text,),
        takeover=(text,),
        repositories=(text,),
        left=(text,),
        checkpoints=(Kept(number=1, time=0.0, label=text),),
        remarks=(text,),
        decided=(
            DecidedHold(id="H-BBBBBB", state="denied", operation=text, target=text, by=text, reason=text),
        ),
        hook_files=(text,),
        notes=text,
    )


def shape(markdown: str) -> list[str]:
    """The document's structure: everything but the content of code and of our own words."""
    found = []
    for token in MarkdownIt().parse(markdown):
        found.append(token.type + token.tag)
        found += [child.type for child in token.children or () if child.type != "text"]
    return found


def without_empty(text: str) -> str:
    """What stands where `text` is empty: sections without content are left out on purpose."""
    return text or "x"


@given(TEXT)
def test_no_text_changes_the_structure(text: str) -> None:
    assert shape(render_markdown(full(without_empty(text)))) == shape(render_markdown(full("x")))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_changes_nothing_either(text: str) -> None:
    assert shape(render_markdown(full(without_empty(text)))) == shape(render_markdown(full("x")))


@given(TEXT)
def test_nothing_deceptive_reaches_a_terminal(text: str) -> None:
    assert not suspicious(render_markdown(full(text)))


@given(TEXT)
def test_block_holds_exactly_the_visible_text(text: str) -> None:
    (token,) = MarkdownIt().parse(block(text, lines=10_000))
    assert token.type == "fence"
    assert token.content == visible(text) + "\n"


@given(TEXT)
def test_span_is_one_code_span(text: str) -> None:
    _, inline, _ = MarkdownIt().parse(f"before {span(text)} after")
    children = [(child.type, child.content) for child in inline.children or ()]
    assert [kind for kind, _ in children] == ["text", "code_inline", "text"]
    assert "\n" not in children[1][1]


def test_empty_text_is_said_to_be_empty() -> None:
    assert span(" \n ") == f"`{NOTHING}`"


def test_long_block_says_what_was_left_out() -> None:
    assert block("x\n" * 500, lines=10).splitlines()[-2] == "… 491 more lines"


def test_line_feed_in_a_file_name_is_spelled_out() -> None:
    assert name("a\nb\tc") == "a<U+000A>b<U+0009>c"


@given(st.text())
def test_commands_to_copy_hold_no_foreign_shell(text: str) -> None:
    markdown = render_markdown(msgspec.structs.replace(full("x"), session=text))
    for line in re.findall(r"^sekisho .*$", markdown, re.MULTILINE):
        words = shlex.split(line.partition("… [cut")[0]) if "… [cut" not in line else []
        assert all(word == name(text) or re.fullmatch(r"[\w.-]+", word) for word in words)


def test_everything_is_in_the_text() -> None:
    handoff = Handoff(
        session="1129-k7f2x",
        project="/home/me/x",
        argv=("claude", "-p", "fix it,\nthen test it"),
        ended_because="the command ended",
        exit_status=0,
        duration=61,
        work="/state/sessions/1129-k7f2x/work",
        base="aaaa",
        commits=(Commit(id="c" * 40, subject="Fix the build", ref="refs/sekisho/1129-k7f2x/main"),),
        diffstat=" a.py | 2 +-",
        changed_files=("a.py",),
        held=(HeldAct(id="H-ABCDEF", operation="git.push", target="origin main", changes="+1\n-1"),),
        denied=(
            DeniedAct(operation="http.get", target="169.254.169.254", why="metadata service", code="no-code"),
        ),
        attempts=(DirectAttempt(destination="tcp 1.2.3.4:22", count=3),),
        gate_broken=("22:01 ledger.db: the disk is full",),
        decided=(DecidedHold(id="H-BBBBBB", state="done", operation="http.post", target="api", by="me"),),
        hook_files=(".github/workflows/ci.yml",),
        notes="All tests pass.",
    )
    text = render_markdown(handoff)
    for part in (
        "1 act waits for your decision",
        "sekisho approvals approve H-ABCDEF",
        "sekisho sessions diff 1129-k7f2x",
        "sekisho sessions apply 1129-k7f2x",
        "sekisho run --from 1129-k7f2x",
        "+1\n-1",
        "duration: 1 min 1 s",
        "\nclaude -p 'fix it,\nthen test it'\n",
        "Fix the build",
        " a.py | 2 +-",
        "(`no-code`): `metadata service`",
        "tcp 1.2.3.4:22` (3 times)",
        "the disk is full",
        "`done` by `me`",
        ".github/workflows/ci.yml",
        "All tests pass.",
        "**Risk:** not given",
    ):
        assert part in text


def test_empty_handoff_says_so() -> None:
    handoff = Handoff(
        session="s",
        project="/p",
        argv=("true",),
        ended_because="the command ended",
        exit_status=None,
        duration=0,
        work="/w",
    )
    text = render_markdown(handoff)
    assert "Nothing waits for a decision." in text
    assert "exit status: none" in text
    assert "## Refused" not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_handoff_comes_back_from_its_file(tmp_path: Path, text: str) -> None:
    folder = Sessions(tmp_path).create()
    handoff = full(text)
    module.write(folder, handoff, render_markdown(handoff))
    assert load(folder) == handoff
    assert folder.handoff_json.read_bytes().isascii()
    assert folder.handoff_markdown.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("raw", [b"", b"{}", b"[" * 100_000, b"\xff"])
def test_damaged_handoff_is_a_broken_store(tmp_path: Path, raw: bytes) -> None:
    folder = Sessions(tmp_path).create()
    folder.handoff_json.write_bytes(raw)
    with pytest.raises(StoreBroken):
        load(folder)


def test_hold_becomes_an_approval_request(store: Store) -> None:
    evidence: dict[str, Any] = {"changes": "+1", "risk": {"reversible": False}, "verification": None}
    hold = held(store, evidence=evidence)
    act = held_act(hold)
    assert (act.id, act.operation, act.target) == (hold.id, "git.push", hold.target)
    assert act.purpose == "pushes to main"
    assert (act.changes, act.verification) == ("+1", "")
    assert "reversible" in act.risk
    denied = decided_hold(store.ledger.deny(hold.id, "not now", "me"))
    assert (denied.state, denied.by, denied.reason) == ("denied", "me", "not now")
