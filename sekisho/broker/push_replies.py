"""Answers to a push in git's own form: a report with a reason for each ref.

So `git push` exits with 1 and prints where the push waits.
"""

from netpolicy.git import report
from netpolicy.git.pktline import PktError
from netpolicy.git.receive import Push, parse
from netpolicy.ports import Reply
from netpolicy.request import Request
from sekisho.broker.outcomes import decided_refusal
from sekisho.core.lifecycle import State
from sekisho.core.refusal import Refusal, git_reason, standard, to_git_lines
from sekisho.store.holds import Hold


def _report(body: bytes) -> Reply:
    return Reply(status=200, reason="OK", headers=report.HEADERS, body=body)


PROBE_ANSWER = _report(report.probe_answer())


def is_push(request: Request) -> bool:
    """Whether the answer must be in the form of git's push report."""
    return request.path.partition("?")[0].endswith("/git-receive-pack")


def reject(push: Push, refusal: Refusal) -> Reply:
    """Every ref rejected with the refusal's reason."""
    return _report(report.rejection(push, git_reason(refusal), remote=to_git_lines(refusal)))


def broken_reply(request: Request, refusal: Refusal) -> Reply:
    """A push that could not be held, because the gate is broken."""
    try:
        return reject(parse(request.body or b""), refusal)
    except PktError:
        return unreadable(request, refusal.why)


def unreadable(request: Request, why: str) -> Reply:
    """A push of which not even the refs can be told."""
    text = "\n".join(to_git_lines(standard("unreadable-push", f"git.push {request.url}", why=why)))
    headers = (("Content-Type", "text/plain; charset=utf-8"),)
    return Reply(status=403, reason="Denied by sekisho", headers=headers, body=text.encode() + b"\n")


def decided_reply(push: Push, hold: Hold) -> Reply:
    """The answer to a push that waited: what became of it, ref by ref."""
    if hold.state is State.DONE:
        return sent(push, f"{hold.id} was approved and sent")
    return reject(push, decided_refusal(hold))


def sent(push: Push, how: str) -> Reply:
    """Every ref as the push asked for it."""
    return _report(report.outcome(push, {}, remote=[f"sekisho: {how}"]))


def failed(push: Push, hold: Hold, summary: str) -> Reply:
    """A push that was sent and did not go well: what the remote said of each ref, else how it ended."""
    said = (hold.result or {}).get("refs", {})
    return _report(report.outcome(push, {c.ref: str(said.get(c.ref, summary)) for c in push.commands}))
