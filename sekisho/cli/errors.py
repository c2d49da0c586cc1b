"""How a failure of our own reaches a person: what, why, what next, and an exit status."""

import contextlib
import errno
import os
import select
import sys
from typing import TextIO

from sekisho.core.display import visible

USAGE = 2
GATE_BROKEN = 69
INTERRUPTED = 130  # 128 + SIGINT
READER_GONE = 141  # 128 + SIGPIPE
UNWRITABLE = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class Trouble(Exception):
    """A failure to be shown without a traceback.

    `what` is one sentence in lower case, `why` and `instead` may be empty, `status` is the exit status.
    """

    def __init__(self, what: str, *, why: str = "", instead: str = "", status: int = 1) -> None:
        super().__init__(what)
        self.what, self.why, self.instead, self.status = what, why, instead, status


class BrokenOff(Exception):
    """A `BrokenPipeError` under a name of its own: click ends silently for that one, whatever broke."""

    def __init__(self, error: BrokenPipeError) -> None:
        super().__init__(str(error))
        self.error = error


def report(trouble: Trouble) -> int:
    """Print a trouble on stderr and give its exit status. Its texts may be foreign: all is made visible.

    What was printed before comes before it, also where both end in one file. The status stands where
    nothing can be printed.
    """
    try:
        flush()
    except OSError:
        _discard(sys.stdout)
    said = {"sekisho": trouble.what, "  why": trouble.why, "  next": trouble.instead}
    try:
        for word, text in said.items():
            if text:
                print(f"{word}: {visible(text)}", file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)
    return trouble.status


def flush() -> None:
    """Write out what waits for standard output. Raises OSError where that cannot be."""
    if sys.stdout is not None:  # closed by who started us
        sys.stdout.flush()


def report_unwritten(error: OSError) -> int:
    """An output that could not be written: the exit status, after saying so.

    A reader who went away (`| head`) wants to hear no more: then it is as if the signal had ended us.
    """
    gone = error.errno == errno.EPIPE and _nobody_reads(1)
    _discard(sys.stdout)
    if gone:
        return READER_GONE
    return report(Trouble(f"not all could be written: {error.strerror or error}"))


def _nobody_reads(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _discard(stream: TextIO) -> None:
    """What still waits can go nowhere; else the interpreter tries again at its end, with status 120."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
