"""How a failure of our own reaches a person: what, why, what next, and an exit status."""

import sys

from sekisho.core.display import visible

USAGE = 2
GATE_BROKEN = 69


class Trouble(Exception):
    """A failure to be shown without a traceback.

    `what` is one sentence in lower case, `why` and `instead` may be empty, `status` is the exit status.
    """

    def __init__(self, what: str, *, why: str = "", instead: str = "", status: int = 1) -> None:
        super().__init__(what)
        self.what, self.why, self.instead, self.status = what, why, instead, status


def report(trouble: Trouble) -> int:
    """Print a trouble on stderr and give its exit status. Its texts may be foreign: all is made visible."""
    print(f"sekisho: {visible(trouble.what)}", file=sys.stderr)
    if trouble.why:
        print(f"  why: {visible(trouble.why)}", file=sys.stderr)
    if trouble.instead:
        print(f"  next: {visible(trouble.instead)}", file=sys.stderr)
    return trouble.status
