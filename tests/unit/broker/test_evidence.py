"""What a person is shown: complete, and safe to act on."""

import shlex

import pytest

from sandbox.workspace.held import HeldPush, HeldRef, SentCommit
from sandbox.workspace.scanning import Scan
from sekisho.broker import evidence
from sekisho.core.action import Action, Answers, Credential, Effect, Reach, Stakes
from sekisho.core.policy import BUILTIN
from sekisho.core.verdict import Decision, judge
from sekisho.sending.artifact import HttpAct

ZERO, ONE, TWO = "0" * 40, "1" * 40, "2" * 40
EVIL = "refs/heads/a$(touch${IFS}x)`y`;z'\""


def decision(verb: str = "http.post", **fields: object) -> Decision:
    action = Action(verb=verb, target="t", effect=Effect.EXTERNAL, reason="it writes")
    import msgspec

    return judge(msgspec.structs.replace(action, **fields), BUILTIN)


def push_evidence(
    op: str, ref: str, old: str, new: str, ancestor: bool | None, own: tuple[bytes, ...] = ()
) -> dict[str, object]:
    change = {"op": op, "ref": ref, "old": old, "new": new, "force": None}
    detail = {"remote": "https://git.test/x.git", "refs": [change]}
    held = HeldPush(
        git_dir="/g",
        refs=(HeldRef(old=old, new=new, ref=ref, is_ancestor=ancestor),),
        objects=1,
        size=2,
        diff="/d",
        diff_cut=False,
        secrets=Scan(findings=(), complete=True),
        own=own,
    )
    return evidence.of_push(decision("git.push", detail=detail), held, "d" * 64, purpose="p")


@pytest.mark.parametrize(
    ("op", "old", "new", "words"),
    [
        ("create", ZERO, ONE, ["git", "push", "https://git.test/x.git", "--delete", EVIL]),
        (
            "update",
            ONE,
            TWO,
            ["git", "push", f"--force-with-lease={EVIL}:{TWO}", "https://git.test/x.git", f"{ONE}:{EVIL}"],
        ),
        (
            "delete",
            ONE,
            ZERO,
            ["git", "push", f"--force-with-lease={EVIL}:", "https://git.test/x.git", f"{ONE}:{EVIL}"],
        ),
    ],
)
def test_a_recovery_that_is_copied_into_a_shell_runs_nothing_else(
    op: str, old: str, new: str, words: list[str]
) -> None:
    assert shlex.split(str(push_evidence(op, EVIL, old, new, None)["recovery"])) == words


@pytest.mark.parametrize(
    ("old", "new", "ancestor", "says"),
    [
        (ZERO, ONE, None, "new"),
        (ONE, ZERO, None, "DELETED"),
        (ONE, TWO, True, "fast-forward"),
        (ONE, TWO, False, "FORCE"),
        (ONE, TWO, None, "may replace commits"),
    ],
)
def test_what_happens_to_a_ref_is_said(old: str, new: str, ancestor: bool | None, says: str) -> None:
    op = "create" if old == ZERO else "delete" if new == ZERO else "update"
    assert says in str(push_evidence(op, "refs/heads/a", old, new, ancestor)["changes"])


def shown_of(ref: HeldRef) -> str:
    detail = {
        "remote": "https://git.test/x.git",
        "refs": [{"op": "create", "ref": EVIL, "old": ZERO, "new": ONE}],
    }
    held = HeldPush(
        git_dir="/g",
        refs=(ref,),
        objects=1,
        size=2,
        diff="/d",
        diff_cut=False,
        secrets=Scan(findings=(), complete=True),
    )
    return str(evidence.of_push(decision("git.push", detail=detail), held, "d" * 64, purpose="p")["changes"])


def sent(message: bytes, **more: object) -> SentCommit:
    fields: dict[str, object] = {
        "oid": ONE,
        "author": b"a",
        "ref": "",
        "subject": message.split(b"\n")[0],
        **more,
    }
    return SentCommit(**fields, stored=b"tree t\n\n" + message)  # type: ignore[arg-type]


def test_messages_tags_and_paths_are_shown_beside_the_commits() -> None:
    log = (sent(b"Tidy\n\nthe body\n", paths=(b"A\tone", b"D\ttwo"), more_paths=7), sent(b"Short\n"))
    shown = shown_of(
        HeldRef(old=ZERO, new=ONE, ref=EVIL, is_ancestor=None, log=log, more=9, tags=(b"tag v1\n\nwords",))
    )
    assert "| the body" in shown
    assert shown.count("the whole message") == 1
    assert "A\tone" in shown
    assert "and 7 more paths" in shown
    assert "| words" in shown
    assert "and 9 older commits" in shown


def test_what_has_no_room_beside_the_commits_is_said() -> None:
    log = (sent(b"Long\n\n" + b"x" * evidence.PUSH_SHOWN), *(sent(b"y" * 990) for _ in range(400)))
    shown = shown_of(
        HeldRef(old=ZERO, new=ONE, ref=EVIL, is_ancestor=None, log=log, tags=(b"t" * evidence.PUSH_SHOWN,))
    )
    assert "(--diff shows its message and paths)" in shown
    assert "commits that only --diff lists" in shown
    assert "an annotated tag (--diff shows it)" in shown
    assert len(shown) < evidence.PUSH_SHOWN + 1000


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (Answers(reversible=True), "can be undone"),
        (Answers(), "cannot be undone"),
        (Answers(reach=Reach.PRODUCTION), "PRODUCTION"),
        (Answers(credential=Credential.WRITE), "write credential"),
        (Answers(stakes=Stakes.PAYMENT), "moves payment"),
        (Answers(checkable=True), "checkable by machine"),
    ],
)
def test_each_of_the_five_answers_is_a_word_of_the_risk(answers: Answers, says: str) -> None:
    shown = evidence.base(decision(answers=answers), purpose="")
    assert says in shown["risk"]


def test_a_long_body_is_cut_and_says_so() -> None:
    act = HttpAct(
        method="POST", scheme="https", host="a.test", port=443, path="/x", headers=(("A", "b"),), size=1 << 20
    )
    shown = evidence.of_request(decision(), act, b"x" * (1 << 17), purpose="")
    assert (shown["size"], shown["shown"]) == (1 << 20, evidence.BODY_SHOWN)
    assert shown["target"] == "https://a.test/x"
    assert "A: b" in shown["changes"]


def test_a_remote_that_could_not_be_read_is_a_warning() -> None:
    held = HeldPush(
        git_dir="/g",
        refs=(),
        objects=0,
        size=0,
        diff="/d",
        diff_cut=False,
        secrets=Scan(findings=(), complete=True),
    )
    found = decision("git.push", detail={"remote": "https://git.test/x.git", "refs": []})
    (warning,) = evidence.of_push(found, held, "d" * 64, certain=False, purpose="p")["warnings"]
    assert "the remote could not be read" in warning
    assert evidence.of_push(found, held, "d" * 64, purpose="p")["warnings"] == []


def test_a_missing_purpose_is_said() -> None:
    assert "gave none" in evidence.base(decision(), purpose="")["purpose"]


def test_files_of_the_persons_own_are_named_and_counted_beyond_a_screen() -> None:
    own = tuple(b"notes/%d \xff" % number for number in range(evidence.OWN_SHOWN + 3))
    shown = push_evidence("create", "refs/heads/x", ZERO, ONE, None, own)
    warnings = shown["warnings"]
    assert isinstance(warnings, list)
    (warning,) = warnings
    assert "files of your own" in warning
    assert "notes/0 \\xff" in warning
    assert warning.endswith(" and 3 more")
    assert len(shown[evidence.OWN]) == len(own)  # type: ignore[arg-type]


def test_a_model_call_of_no_configured_provider_names_the_key_of_the_policy() -> None:
    act = HttpAct(method="POST", scheme="https", host="a.test", port=443, path="/v1/messages", headers=())
    found = decision(code="model-not-configured")
    (warning,) = evidence.of_request(found, act, b"{}", purpose="")["warnings"]
    assert "[[network.model]]" in warning
    assert "docs/agents.md" in warning
    assert evidence.of_request(decision(), act, b"{}", purpose="")["warnings"] == []
