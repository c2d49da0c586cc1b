"""Tools that a session does not have: a call of one is refused, and on record. Pure.

Where one lies inside, a stub stands in its place (`sandbox.absent`), which says the same to whoever calls it
by its path, and can tell nobody.
"""

import os

import msgspec

from sandbox.absent import KIND, words
from sekisho.core.gate import Gate
from sekisho.core.policy import Tools
from sekisho.core.texts import TEXTS
from sekisho.core.verdict import Decision, Verdict
from shim.protocol import Asked

CODE = "absent-tool"
# Whatever lies there the agent brought itself.
_WRITABLE = ("/home/agent", "/tmp", "/var/tmp", "/dev/shm")


def missing(asked: Asked, decision: Decision, tools: Tools, project: str) -> tuple[Decision, str] | None:
    """The denial of a command whose program is not there, and what is said of it; None where it is there."""
    name = os.path.basename(asked.argv[0])
    kind = "" if name in tools.keep or name in (tools.only or ()) else KIND.get(name, "")
    if not asked.tool:
        text = TEXTS[CODE]
        why, instead = words(name, kind) if kind == "ssh" else (text.why, text.instead)
        return _denied(decision, why, instead), " ".join(asked.argv)
    if not kind or _brought(asked.tool, project):
        return None
    return _denied(decision, *words(name, kind)), f"{name} ({kind}) is absent in this sandbox"


def _brought(tool: str, project: str) -> bool:
    return os.path.normpath(tool).startswith(tuple(f"{place}/" for place in (project, *_WRITABLE)))


def _denied(decision: Decision, why: str, instead: str) -> Decision:
    return msgspec.structs.replace(
        decision, verdict=Verdict.DENY, gate=Gate.NEVER, code=CODE, reason=why, instead=instead
    )
