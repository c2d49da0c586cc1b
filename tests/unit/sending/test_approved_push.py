"""What a push that git did not call done may have changed."""

import pytest

from sekisho.core.lifecycle import State
from sekisho.sending.approved_push import not_done
from sekisho.sending.send_push import PushResult

REFUSED = {"refs/heads/a": "! [remote rejected]"}


@pytest.mark.parametrize(
    ("refs", "output", "state"),
    [
        (REFUSED, "", State.FAILED),
        ({**REFUSED, "refs/heads/b": "* [new branch]"}, "", State.UNKNOWN),
        ({}, "", State.UNKNOWN),
        ({}, "error: RPC failed; HTTP 500", State.UNKNOWN),
        ({}, "fatal: unable to access 'https://git.test/r.git/': Could not resolve host", State.FAILED),
        ({}, "fatal: Authentication failed for 'https://git.test/r.git/'", State.FAILED),
        ({}, "remote: no such place\nfatal: repository 'https://git.test/r.git/' not found", State.FAILED),
        ({}, "remote: deploy: npm: not found\nfatal: the remote end hung up unexpectedly", State.UNKNOWN),
    ],
)
def test_only_what_was_surely_refused_has_failed(refs: dict[str, str], output: str, state: State) -> None:
    assert not_done(PushResult(status=1, refs=refs, output=output)) is state
