"""Throw-away upstream servers on loopback: a git forge and an API that notes what reached it.

`sekisho demo`, the drill and the tests stand them up to show what left the sandbox and what did not.
`Upstream` runs in threads of this process; `UpstreamProcess` for whoever must stay single-threaded.
"""

from sekisho.demo.process import UpstreamProcess
from sekisho.demo.server import DEFAULT_NAMES, Upstream

__all__ = ["DEFAULT_NAMES", "Upstream", "UpstreamProcess"]
