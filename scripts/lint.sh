#!/usr/bin/env bash
# Style, types and the direction of imports. Run through `make lint`, which prepares the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ruff check .
ruff format --check .
mypy
mypy -p bench
lint-imports
