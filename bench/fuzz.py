"""Hostile input to the deciding parsers for a while: `python -m bench.fuzz --minutes N`.

The made-up requests are those of the tests. What is found is printed, ready to be kept as a case, and
the run ends with 1.
"""

import argparse
import resource
import sys
import time

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from netpolicy.request import Request
from netpolicy.world import World
from tests.unit.netpolicy.hostile import judged, push_is_read_or_refused, requests

ROUND = 500  # inputs between two looks at the clock
SOON = 1.0  # seconds of CPU time for any one input
MOST_MEMORY = 1 << 31  # bytes of address space: a bomb ends the run, not the machine
_SETTINGS = settings(
    max_examples=ROUND,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


@_SETTINGS
@given(requests())
def requests_are_judged(made: tuple[Request, World]) -> None:
    """An answer, and soon."""
    began = time.thread_time()
    judged(*made)
    spent = time.thread_time() - began
    assert spent < SOON, f"{spent:.1f} s for {made[0]!r}"


@_SETTINGS
@given(st.binary(max_size=2000))
def pushes_are_read(data: bytes) -> None:
    """A push is read or refused."""
    push_is_read_or_refused(data)


def main() -> None:
    """Go on until the time is up or something is found."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    until, tried = time.monotonic() + options.minutes * 60, 0
    while time.monotonic() < until:
        try:
            requests_are_judged()
            pushes_are_read()
        except Exception as found:
            print(f"after {tried} inputs: {type(found).__name__}: {found}", file=sys.stderr)
            print("\n".join(getattr(found, "__notes__", ())), file=sys.stderr)
            raise SystemExit(1) from found
        tried += 2 * ROUND
    print(f"{tried} inputs, nothing found")


if __name__ == "__main__":
    main()
