#!/usr/bin/env bash
# All tests, or those that pytest's arguments choose: first what can run side by side, then what must be alone.
# Run through `make test`, which prepares the environment.
#
#   SEKISHO_WORKERS   how many run side by side; by default one more than there are cores, as many only wait
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
workers=${SEKISHO_WORKERS:-$(($(nproc) + 1))}
none=5 # pytest's status where nothing was chosen

# A module stays in one worker: many share a costly world.
python -m pytest -n "$workers" --dist loadfile --no-loadscope-reorder -m "not alone" "$@"
beside=$?
python -m pytest -p no:xdist -m alone "$@"
alone=$?
if [ $beside = $none ] && [ $alone = $none ]; then exit $none; fi
[ $beside = 0 ] || [ $beside = $none ] || exit $beside
[ $alone = 0 ] || [ $alone = $none ] || exit $alone
