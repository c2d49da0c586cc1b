"""Tools that a session does not have: a call of one is refused, and on record. Pure.

Where one lies inside, a stub stands in its place (`sandbox.absent`), which says the same to whoever calls it
by its path, and can tell nobody.
"""

import os

import msgspec

from sandbox.absent import KIND
from sekisho.core.gate import Gate
from sekisho.core.policy import Tools
from sekisho.core.texts import TEXTS
from sekisho.core.verdict import Decision, Verdict
from shim.protocol import Asked

CODE = "absent-tool"
# Whatever lies there the agent brought itself.
_WRITABLE = ("/home/agent", "/tmp", "/var/tmp", "/dev/shm")


def absent(asked: Asked, tools: Tools, project: str) -> str:
    """Why the program of a command is not there; empty where it is."""
    name = os.path.basename(asked.argv[0])
    if not asked.tool:
        return TEXTS[CODE].why
    if name not in KIND or name in tools.keep or name in (tools.only or ()):
        return ""
    own = tuple(f"{place}/" for place in (project, *_WRITABLE))
    brought = os.path.normpath(asked.tool).startswith(own)
    return "" if brought else f"{name} is one of the tools ({KIND[name]}) that are absent from a session"


def denied(decision: Decision, name: str, why: str) -> Decision:
    """The denial of a command whose program is not there."""
    # Kept, these would be there and reach nothing.
    instead = TEXTS["no-wire" if KIND.get(name) == "ssh" else CODE].instead
    return msgspec.structs.replace(
        decision, verdict=Verdict.DENY, gate=Gate.NEVER, code=CODE, reason=why, instead=instead
    )
