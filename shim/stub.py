#!/usr/bin/python3 -ISE
"""What stands under a tool's name: starts the client, which lies beside it, compiled to bytecode."""

import sys

sys.path.insert(0, (sys.argv[0].rpartition("/")[0] or ".") + "/.client")

import sekisho_client  # type: ignore[import-not-found]

sys.exit(sekisho_client.main())
