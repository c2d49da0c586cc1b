"""`python -m sekisho.demo --root FOLDER`: the servers as a process of their own.

Prints one JSON line (address, port, resolve) once it accepts and, for each line on standard input, the
number of bytes received so far. Ends when its standard input does, so that it never outlives whoever
started it.
"""

import argparse
import json
import sys
from pathlib import Path

from sekisho.demo.server import DEFAULT_NAMES, Upstream


def main() -> None:
    """Serve until standard input ends."""
    options = _options()
    users = dict(pair.split(":", 1) for pair in options.user)
    names = options.name or DEFAULT_NAMES
    with Upstream(
        names, options.root, users, private=options.private, ports=options.port or (0,)
    ) as upstream:
        for repository in options.repository:
            if not (upstream.forge.folder / repository).exists():
                upstream.forge.create(repository)
        facts = {"address": upstream.address, "port": upstream.port, "resolve": upstream.resolve()}
        print(json.dumps(facts), flush=True)
        for _ in sys.stdin:
            print(upstream.received(), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sekisho.demo", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder that keeps everything")
    repeatable = {
        "--name": "a name to serve",
        "--user": "NAME:PASSWORD that may push",
        "--private": "repository that asks readers for a login",
        "--repository": "bare repository to make",
    }
    for option, meaning in repeatable.items():
        parser.add_argument(option, action="append", default=[], help=f"{meaning}; repeatable")
    parser.add_argument("--port", action="append", type=int, default=[], help="0 is a free one; repeatable")
    return parser.parse_args()


if __name__ == "__main__":
    main()
