#!/usr/bin/env bash
# No committed file names the host of a package registry: which one is used is the machine's configuration.
# The hosts are taken from pip's, npm's and apt's own settings at run time. Run it inside the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

addresses() {
  env | grep -E '^(PIP|UV|NPM|npm)_' || true
  python -m pip config list
  python -I -c 'from pip._internal.models.index import PyPI; print(PyPI.url)' 2>/dev/null || true
  if command -v npm >/dev/null; then npm config get registry; fi
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true
}

hosts() {
  addresses | grep -oE 'https?://[^/ "'"'"']+' | sed -E 's#^https?://##; s#^.*@##; s#:[0-9]+$##' |
    grep -F . | grep -vE '^[0-9.]+$' | sort -u
}

found=0
while read -r host; do
  # Not repeated in the message: a log is a file, too.
  if git grep -InF -e "$host" -- . | sed "s/$host/<registry host>/g" >&2; then found=1; fi
done < <(hosts)
if [ "$found" = 1 ]; then
  echo "error: a committed file names the host of a package registry
  why:  which registry is used belongs to each machine's pip, npm and apt configuration
  next: read it from that configuration, or leave the name out" >&2
  exit 1
fi
