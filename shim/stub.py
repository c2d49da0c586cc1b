#!/usr/bin/python3 -ISE
"""What stands under a tool's name: starts the client, which lies beside it, compiled to bytecode."""

import sys

# Beside the name it was called by; where it covers a program of /usr/bin, in its home.
sys.path[:0] = [(sys.argv[0].rpartition("/")[0] or ".") + "/.client", "/run/sekisho/bin/.client"]

import sekisho_client  # type: ignore[import-not-found]  # noqa: E402

sys.exit(sekisho_client.main())
