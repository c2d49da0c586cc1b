"""`python -m bench`: all tables in one run."""

import argparse
import os
from pathlib import Path

from rich.console import Console

from bench import asking, deciding, proxying, starting


def main() -> None:
    """Measure what is asked for and print tables."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", nargs="*", help="start, decide, ask, proxy; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="each figure is the median of so many")
    parser.add_argument("--download", type=int, default=500, metavar="MIB")
    options = parser.parse_args()
    what = options.what or ["start", "decide", "ask", "proxy"]
    console = Console(width=110, highlight=False)
    console.print(f"{os.cpu_count()} cores, {os.uname().release}; {options.rounds} rounds; read the ratios\n")
    if "start" in what:
        starting.run(console, options.rounds, _cache())
    if "decide" in what:
        deciding.run(console)
    if "ask" in what:
        asking.run(console)
    if "proxy" in what:
        proxying.run(console, options.rounds, options.download)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sekisho-bench"


if __name__ == "__main__":
    main()
