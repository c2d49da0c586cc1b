"""In place: commands that would change the person's repository settings are refused before they run.

Inside, git would say that they worked, and nothing of it would be there when the session ends.
"""

from sandbox.inplace.explaining import explain_failure
from sekisho.core.action import Action
from sekisho.core.refusal import Refusal, standard
from shim.protocol import Asked

CODE = "not-in-place"


async def guard(asked: Asked, action: Action) -> Refusal | None:
    """The refusal of a command that cannot do in place what it says; for `announced.Announcements`."""
    why = explain_failure(asked.argv)
    if why is None:
        return None
    reason, _, way = why.partition(": ")
    return standard(CODE, " ".join(asked.argv), why=reason, instead=way)
