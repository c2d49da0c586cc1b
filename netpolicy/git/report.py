"""The answer to a push, given in the upstream's place (gitprotocol-pack(5), report-status). Pure.

git then prints each `remote:` line and `! [remote rejected] main -> main (reason)`, and exits 1.
"""

from collections.abc import Mapping, Sequence

from netpolicy.git.pktline import FLUSH, band, line
from netpolicy.git.receive import Push

CONTENT_TYPE = "application/x-git-receive-pack-result"
HEADERS: tuple[tuple[str, str], ...] = (
    ("Content-Type", CONTENT_TYPE),
    ("Cache-Control", "no-cache, max-age=0, must-revalidate"),
)
MAX_REASON = 900  # characters; a side-band packet without -64k holds 999 bytes, ref name included


def _one_line(text: str, limit: int) -> bytes:
    flat = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(flat.split())[:limit].encode("utf-8")


def _statuses(push: Push, reasons: Mapping[str, str | None], default: str | None) -> bytes:
    """A reason of None is a ref that went through."""
    lines = [line(b"unpack ok\n")]
    for command in push.commands:
        ref = command.ref.encode("utf-8", "replace")
        reason = reasons.get(command.ref, default)
        said = b"ok %s\n" % ref if reason is None else b"ng %s %s\n" % (ref, _one_line(reason, MAX_REASON))
        lines.append(line(said))
    return b"".join(lines) + FLUSH


def rejection(
    push: Push,
    reason: str,
    *,
    reasons: Mapping[str, str] | None = None,
    remote: Sequence[str] = (),
) -> bytes:
    """The body (status 200, `CONTENT_TYPE`) that rejects every ref of `push`.

    `reason` stands beside each ref unless `reasons` has one of its own for it; `remote` are lines
    shown before.
    """
    return _body(push, _statuses(push, dict(reasons or {}), reason), remote)


def progress(push: Push, text: str) -> bytes:
    """The beginning of a body: a line for the person, before the report. Empty where the client reads none.

    The capability `quiet` is not looked at: git sends it whenever its output is no terminal.
    """
    if (limit := _band_limit(push)) is None:
        return b""
    return band(2, _one_line(text, 4000) + b"\n", limit)


def _band_limit(push: Push) -> int | None:
    names = push.capability_names
    if "side-band-64k" in names:
        return 65515
    return 995 if "side-band" in names else None


def outcome(push: Push, reasons: Mapping[str, str], *, remote: Sequence[str] = ()) -> bytes:
    """The body for a push that was sent on: each ref with a reason was rejected, the others went through."""
    return _body(push, _statuses(push, dict(reasons), None), remote)


def _body(push: Push, report: bytes, remote: Sequence[str]) -> bytes:
    """What the client can read: side-band-64k, side-band or none, and no report where it asked for none.

    The two versions of report-status say the same in the same words.
    """
    names = push.capability_names
    if not names & {"report-status", "report-status-v2"}:
        report = b""
    if (limit := _band_limit(push)) is not None:
        shown = b"".join(band(2, _one_line(text, 4000) + b"\n", limit) for text in remote)
        return shown + (band(1, report, limit) if report else b"") + FLUSH
    return report


def probe_answer() -> bytes:
    """The body for the lone `0000` that git sends ahead of a big push: an empty one."""
    return b""
