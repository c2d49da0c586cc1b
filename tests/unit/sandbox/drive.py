"""A launcher for tests that need one of its own: `python -m tests.unit.sandbox.drive [options] -- CMD`.

--terminal uses a pty, --record FILE records it, --print-pid says the launcher's and bwrap's pid first.
"""

import os
import sys
from pathlib import Path

from sandbox.launch import start
from sandbox.pipes import Pipes
from sandbox.recording import Recording
from sandbox.terminal import Terminal
from tests.unit.sandbox.lab import enclosure


def main() -> int:
    cut = sys.argv.index("--")
    options, command = sys.argv[1:cut], sys.argv[cut + 1 :]
    terminal = "--terminal" in options
    recording = None
    if "--record" in options:
        size = os.get_terminal_size(1)
        path = Path(options[options.index("--record") + 1])
        recording = Recording(path, columns=size.columns, rows=size.lines, term="xterm")
    spec = enclosure(*command, terminal=terminal, env={"TERM": "xterm", "PS1": "in> "})
    with (
        Terminal(recording=recording) if terminal else Pipes() as console,
        start(spec, stdio=console.stdio) as running,
    ):
        running.release()
        if "--print-pid" in options:
            print(os.getpid(), running.pid, flush=True)
        return console.relay(running)


if __name__ == "__main__":
    sys.exit(main())
