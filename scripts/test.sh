#!/usr/bin/env bash
# All tests, or those that pytest's arguments choose: first what must be alone, then what can run side by side, in
# workers and beside them in a process without threads. Run through `make test`, which prepares the environment.
#
#   SEKISHO_WORKERS   how many workers; by default one more than there are cores, as many only wait
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
workers=${SEKISHO_WORKERS:-$(($(nproc) + 1))}
none=5 # pytest's status where nothing was chosen

# Without kept bytecode each of these processes rewrites all assertions anew, which takes it 6 s.
unset PYTHONDONTWRITEBYTECODE
python -m pytest -p no:xdist -m alone "$@"
statuses=($?)

said=$(mktemp)
set -m # else it would ignore SIGINT, and all that it starts
python -m pytest -p no:xdist -m "unthreaded and not alone" "$@" </dev/null >"$said" 2>&1 &
unthreaded=$!
set +m
trap 'kill "$unthreaded" 2>/dev/null; rm -f "$said"' EXIT
# A module stays in one worker: many share a costly world.
python -m pytest -n "$workers" --dist loadfile --no-loadscope-reorder -m "not (unthreaded or alone)" "$@"
statuses+=($?)
wait "$unthreaded"
statuses+=($?)
trap 'rm -f "$said"' EXIT
cat "$said"

worst=$none
for status in "${statuses[@]}"; do
  if [ "$status" != $none ] && { [ $worst = $none ] || [ $worst = 0 ]; }; then worst=$status; fi
done
exit "$worst"
