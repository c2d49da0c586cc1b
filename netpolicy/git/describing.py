"""A push that is described, not made: the request that git would send for it. Pure.

So that it is judged by what is judged on the wire, with everything that a policy says about requests.
"""

import base64
from collections.abc import Mapping
from typing import Any

import msgspec

from netpolicy.git.pktline import FLUSH, line
from sekisho.core.action import Action

# No object is meant: whether one is there already, and what it follows, only the remote can tell.
_SOME, _OTHER, _NONE = b"1" * 40, b"2" * 40, b"0" * 40


def row(url: str, refs: Mapping[str, bool]) -> dict[str, Any]:
    """The push of `refs` (in full; true for a deletion) to `url`, as a row of `netpolicy.explain`.

    Raises PktError for a ref that no request can name.
    """
    commands = [
        b"%s %s %s" % (_SOME, _NONE if delete else _OTHER, ref.encode("utf-8", "surrogateescape"))
        for ref, delete in refs.items()
    ]
    commands[0] += b"\0report-status"
    body = b"".join(map(line, commands)) + FLUSH + (b"" if all(refs.values()) else b"PACK")
    return {
        "method": "POST",
        "url": f"{url}/git-receive-pack",
        "headers": {"content-type": "application/x-git-receive-pack-request"},
        "body": "base64:" + base64.b64encode(body).decode(),
    }


def with_force(action: Action, forced: Mapping[str, bool]) -> Action:
    """The act of such a row, with what its sender would do: unless it forces, git refuses to send what is
    no fast-forward; with force nobody but the remote can tell."""
    return with_known_force(action, {ref: None if force else False for ref, force in forced.items()})


def with_known_force(action: Action, forced: Mapping[str, bool | None]) -> Action:
    """The act of a push with what is known of each ref: whether it goes back behind what the remote has,
    None where nobody but the remote can tell. It is not visible on the wire."""
    refs = [{**entry, "force": forced.get(entry["ref"])} for entry in action.detail.get("refs", ())]
    if not refs:
        return action
    answers = action.answers
    # What a force push replaced is back only if somebody still has it.
    if any(entry["op"] == "update" and entry["force"] is not False for entry in refs):
        answers = msgspec.structs.replace(answers, reversible=False)
    return msgspec.structs.replace(action, detail={**action.detail, "refs": refs}, answers=answers)
