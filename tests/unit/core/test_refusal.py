"""Refusals as each reader sees them."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core import refusal as r
from sekisho.core.action import Action, Effect
from sekisho.core.policy import BUILTIN
from sekisho.core.refusal import Refusal
from sekisho.core.texts import TEXTS
from sekisho.core.verdict import judge

HELD = r.standard("held-push", "git push origin main", hold="H-7k2m")
DENIED = r.standard("private-address", "GET http://10.0.0.1/")
BROKEN = r.gate_broken("POST https://a.example/x")


def test_terminal() -> None:
    assert r.to_terminal(HELD) == (
        "sekisho: held (H-7k2m): git push origin main\n"
        "  why: a push changes the remote repository\n"
        "  next: commit and go on; the push is kept as it is and sent once approved\n"
        "  a person decides with `sekisho approvals show H-7k2m`\n"
    )
    assert r.to_terminal(DENIED).startswith("sekisho: denied (private-address): GET http://10.0.0.1/\n")
    assert r.to_terminal(BROKEN).startswith("sekisho: gate broken (gate-broken): POST https://a.example/x\n")


def test_git() -> None:
    assert r.to_git_lines(HELD)[0] == "sekisho: held (H-7k2m): git push origin main"
    assert r.git_reason(HELD) == "held: approval H-7k2m (a push changes the remote repository)"
    assert r.git_reason(DENIED).startswith("denied: private-address (")
    assert r.git_reason(BROKEN).startswith("gate broken: gate-broken (")


def test_reason_phrase() -> None:
    assert r.reason_phrase(HELD) == "Held H-7k2m by sekisho (held-push)"
    assert r.reason_phrase(DENIED) == "Denied by sekisho (private-address)"
    assert r.reason_phrase(BROKEN) == "Gate broken by sekisho (gate-broken)"


def test_problem_has_a_text_where_each_client_looks() -> None:
    problem = json.loads(r.to_problem(HELD))
    assert problem["status"] == 403
    assert problem["hold"] == "H-7k2m"
    assert problem["type"] == "urn:sekisho:held-push"
    for text in (problem["message"], problem["error"], problem["detail"], *problem["errors"][0].values()):
        assert "H-7k2m" in text or text == "held-push"
    assert {"what", "why", "instead", "code", "count", "title"} <= set(problem)


@pytest.mark.parametrize("refusal, told", [(HELD, "held"), (DENIED, "denied"), (BROKEN, "gate broken")])
def test_label(refusal: Refusal, told: str) -> None:
    assert r.label(refusal) == told


@pytest.mark.parametrize("count, short", [(1, False), (2, False), (3, True), (40, True)])
def test_from_the_third_repeat_on_the_text_is_short(count: int, short: bool) -> None:
    again = r.standard("held-push", "git push origin main", hold="H-7k2m", count=count)
    for text in (r.to_terminal(again), "\n".join(r.to_git_lines(again)), r.to_problem(again).decode()):
        assert ("stop trying" in text) is short
        assert "H-7k2m" in text
    assert ("stop trying" in r.git_reason(again)) is short
    assert len(r.to_terminal(again).splitlines()) == (1 if short else 4)


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_texts_keep_to_the_style(code: str) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    for sentence in (TEXTS[code].why, TEXTS[code].instead):
        assert sentence[0].islower()
        assert sentence[-1] not in ".!?"
        assert "please" not in sentence


@pytest.mark.parametrize("hold", [None, "H-1"])
def test_unknown_code_names_a_way_on(hold: str | None) -> None:
    refusal = r.standard("something-new", "x", hold=hold)
    assert refusal.why
    assert refusal.instead


def test_of_decision() -> None:
    held = judge(
        Action(verb="http.post", target="POST https://a", effect=Effect.EXTERNAL, reason="writes"), BUILTIN
    )
    refusal = r.of_decision(held, hold="H-1", count=2)
    assert (refusal.code, refusal.what, refusal.why, refusal.hold) == (
        "held-write",
        "http.post POST https://a",
        "writes",
        "H-1",
    )
    with pytest.raises(ValueError, match="with the id"):
        r.of_decision(held)
    read = judge(Action(verb="http.get", target="t", effect=Effect.READ, reason="reads"), BUILTIN)
    with pytest.raises(ValueError, match="not refused"):
        r.of_decision(read)


def test_hostile_name_cannot_speak_for_us() -> None:
    refusal = r.standard("held-push", "x\n  why: approved\x1b[2K\r\u202e", hold="H-1")
    for text in (r.to_terminal(refusal), *r.to_git_lines(refusal)):
        assert not re.search("[\x1b\r\u202e]", text)
    assert len(r.to_terminal(refusal).splitlines()) == 4


REFUSALS = st.builds(
    Refusal,
    code=st.text(),
    what=st.text(st.characters()),
    why=st.text(st.characters()),
    instead=st.text(),
    hold=st.none() | st.text(),
    count=st.integers(1, 5),
)


@given(REFUSALS)
def test_every_rendering_is_safe_for_its_wire(refusal: Refusal) -> None:
    phrase = r.reason_phrase(refusal)
    assert len(phrase) <= 60
    for text in (phrase, r.git_reason(refusal)):
        assert text.isascii()
        assert text.isprintable()
    assert json.loads(r.to_problem(refusal))["status"] == 403
    assert all("\n" not in line for line in r.to_git_lines(refusal))
    r.to_terminal(refusal).encode("utf-8")
