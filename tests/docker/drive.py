"""A launcher for tests that need one of its own: `python -m tests.docker.drive [options] -- CMD`.

--terminal uses a pty, --print-pid says the container's first process first, --time SECONDS is a limit.
"""

import sys

from sandbox.limits import Watch
from sandbox.pipes import Pipes
from sandbox.spec import Limits
from sandbox.terminal import Terminal
from tests.docker import lab


def main() -> int:
    cut = sys.argv.index("--")
    options, command = sys.argv[1:cut], sys.argv[cut + 1 :]
    terminal = "--terminal" in options
    limit = float(options[options.index("--time") + 1]) if "--time" in options else None
    spec = lab.enclosure(*command, terminal=terminal, env={"TERM": "xterm", "PS1": "in> "})
    with (
        Terminal() if terminal else Pipes() as console,
        lab.launched(spec, stdio=console.stdio) as running,
        Watch(running, Limits(time=limit), "sekisho-test") as watch,
    ):
        running.release()
        watch.begin()
        if "--print-pid" in options:
            print(running.pid, flush=True)
        return console.relay(running, watch.tick, 0.2)


if __name__ == "__main__":
    sys.exit(main())
