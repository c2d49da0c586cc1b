"""What an approved push may have changed, and how that is told."""

import pytest

from sekisho.core.lifecycle import State
from sekisho.sending.approved_push import done_in_words, not_done
from sekisho.sending.artifact import PushAct, RefUpdate
from sekisho.sending.send_push import PushResult

REFUSED = {"refs/heads/a": "! [remote rejected]"}


@pytest.mark.parametrize(
    ("refs", "output", "state"),
    [
        (REFUSED, "", State.FAILED),
        ({**REFUSED, "refs/heads/b": "* [new branch]"}, "", State.UNKNOWN),
        ({}, "", State.UNKNOWN),
        ({}, "error: RPC failed; HTTP 500", State.UNKNOWN),
        ({}, "remote: deploy: npm: not found\nfatal: the remote end hung up unexpectedly", State.UNKNOWN),
    ],
)
def test_only_what_was_surely_refused_has_failed(refs: dict[str, str], output: str, state: State) -> None:
    assert not_done(PushResult(status=1, refs=refs, output=output)) is state


@pytest.mark.parametrize(
    ("updates", "said"),
    [
        ({"refs/heads/a": "1"}, "pushed refs/heads/a to /r.git"),
        ({"refs/heads/a": "0"}, "deleted refs/heads/a on /r.git"),
        (
            {"refs/heads/a": "1", "refs/heads/b": "0", "refs/heads/c": "1"},
            "pushed refs/heads/a, refs/heads/c to /r.git; deleted refs/heads/b on /r.git",
        ),
    ],
)
def test_what_is_done_is_told_ref_by_ref(updates: dict[str, str], said: str) -> None:
    changes = tuple(RefUpdate(ref=ref, old="2" * 40, new=new * 40) for ref, new in updates.items())
    assert done_in_words(PushAct(remote="/r.git", updates=changes)) == said
