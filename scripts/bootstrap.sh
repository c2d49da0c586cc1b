#!/usr/bin/env bash
# Prepares what a command of this project needs, once, and then runs it:
#
#   scripts/bootstrap.sh [--needs "git bwrap /usr/bin/python3"] [--wants "curl wget"] -- COMMAND...
#
# Finds a Python, makes a virtual environment, installs the project into it, and system tools by apt where
# it may. `--needs` must be there (also given several times), without `--wants` some tests are skipped. pip is
# used as it is configured.
#
#   SEKISHO_PYTHON   the Python to use            SEKISHO_VENV   where the environment lies
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
needs="" wants=""

say() { printf 'bootstrap: %s\n' "$*" >&2; }

fail() { # what, why, next
  printf 'error: %s\n  why:  %s\n  next: %s\n' "$1" "$2" "$3" >&2
  exit 69
}

package_of() { # a path stands for the package of its last part
  case ${1##*/} in
    bwrap) echo bubblewrap ;;
    rg) echo ripgrep ;;
    *) echo "${1##*/}" ;;
  esac
}

absent() { # the packages of those tools that are not on PATH
  local tool
  for tool in $1; do
    command -v "$tool" >/dev/null || package_of "$tool"
  done
}

# The words before an apt-get that works without asking anybody; fails where there is none.
privilege() {
  command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" = 0 ]; then
    echo env
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    echo sudo -n
  else
    return 1
  fi
}

as_root() { [ "$(id -u)" = 0 ] || echo "sudo "; } # before a command that is only named

apt_update() { # once: a fresh machine knows no packages
  local before
  [ -z "${updated:-}" ] || return 0
  before=$(privilege) || return 1
  updated=1
  # shellcheck disable=SC2086  # two words on purpose
  $before env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 || true
}

apt_install() {
  local before
  before=$(privilege) || return 1
  apt_update
  say "installing by apt: $*"
  # shellcheck disable=SC2086
  $before env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

install_tools() {
  local missing
  missing=$(absent "$needs $wants" | tr '\n' ' ')
  [ -z "$missing" ] && return
  # shellcheck disable=SC2086
  apt_install $missing || true
  missing=$(absent "$needs" | tr '\n' ' ')
  [ -z "$missing" ] || fail "these programs are missing: $missing" \
    "without them no sandbox can be made, and they could not be installed from here" \
    "$(as_root)apt-get install -y $missing"
  missing=$(absent "$wants" | tr '\n' ' ')
  [ -z "$missing" ] || say "missing, so some tests are skipped: $missing($(as_root)apt-get install -y $missing)"
}

# New enough, and able to make environments (Debian ships that part separately).
usable() { "$1" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; }

# Looked at without uv: one that pipx has just installed is often not on PATH yet.
uv_folder() { echo "${UV_PYTHON_INSTALL_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/uv/python}"; }

candidates() {
  local path
  printf '%s\n' python3.12 python3.13 python3.14 python3
  for path in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python "$(uv_folder)"/*/bin/python3; do
    [ -x "$path" ] && echo "$path"
  done
  if command -v uv >/dev/null; then uv python find '>=3.12' 2>/dev/null || true; fi
}

find_python() {
  local candidate
  while read -r candidate; do
    if usable "$candidate"; then
      "$candidate" -I -c 'import sys; print(sys.executable)'
      return
    fi
  done < <(candidates)
  return 1
}

known_to_apt() { command -v apt-cache >/dev/null && apt-cache show "$1" >/dev/null 2>&1; }

version_of_apt() { # the first version of Python that this system has as packages
  local version
  for version in 3.12 3.13 3.14; do
    if known_to_apt "python$version-venv"; then
      echo "$version"
      return
    fi
  done
  return 1
}

python_by_apt() {
  local version
  apt_update || return 1
  version=$(version_of_apt) || return 1
  apt_install "python$version" "python$version-venv"
}

way_to_python() { # the first command that can work on this machine
  local version
  if version=$(version_of_apt); then
    echo "$(as_root)apt-get install -y python$version python$version-venv"
  elif command -v uv >/dev/null; then
    echo "uv python install 3.12"
  elif command -v pyenv >/dev/null; then
    echo "pyenv install 3.12"
  elif command -v pipx >/dev/null; then
    echo "pipx install uv && ${PIPX_BIN_DIR:-$HOME/.local/bin}/uv python install 3.12"
  elif known_to_apt pipx; then
    echo "$(as_root)apt-get install -y pipx && pipx install uv &&" \
      "${PIPX_BIN_DIR:-$HOME/.local/bin}/uv python install 3.12"
  else
    echo "install uv, then: uv python install 3.12 (or pyenv, then: pyenv install 3.12)"
  fi
}

choose_python() {
  if [ -n "${SEKISHO_PYTHON:-}" ]; then
    usable "$SEKISHO_PYTHON" || fail "SEKISHO_PYTHON=$SEKISHO_PYTHON cannot be used" \
      "it must be Python 3.12 or newer with the modules venv and ensurepip" "name another one, or unset it"
    echo "$SEKISHO_PYTHON"
    return
  fi
  find_python && return
  python_by_apt && find_python && return
  fail "no Python 3.12 or newer with venv was found" \
    "looked for python3.12 to python3.14, python3, pyenv's versions and uv's" \
    "$(way_to_python)"
}

sum() { sha256sum | cut -c1-16; }

venv_path() {
  if [ -n "${SEKISHO_VENV:-}" ]; then
    echo "$SEKISHO_VENV"
  elif [ -w "$tree" ]; then
    echo "$tree/.venv"
  else
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/sekisho/venv-$(printf %s "$tree" | sum)"
  fi
}

# What pip installs from. A build writes into its source, so a read-only tree is copied first.
install_project() {
  local venv=$1 source="$1/source"
  if [ -w "$tree" ]; then
    # As a plain path entry: the finder that setuptools makes otherwise costs each start of Python 10 ms.
    "$venv/bin/python" -m pip install -qq --config-settings editable_mode=compat --editable "$tree[dev]"
    return
  fi
  rm -rf "$source"
  mkdir -p "$source"
  tar -C "$tree" --exclude=./.git --exclude=./.venv -cf - . | tar -C "$source" -xf -
  chmod -R u+w "$source"
  "$venv/bin/python" -m pip install -qq "$source[dev]"
}

state_of() { { cat "$tree/pyproject.toml"; printf '%s\n' "$tree" "$1"; [ -w "$tree" ] || source_state; } | sum; }

source_state() { find "$tree" \( -path "$tree/.git" -o -path "$tree/.venv" \) -prune -o -type f -exec sha256sum {} +; }

prepare_venv() {
  local venv=$1 stamp="$1/.sekisho-installed" python state
  state=$(state_of "$venv")
  if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$state" ]; then
    return
  fi
  if ! { [ -x "$venv/bin/python" ] && usable "$venv/bin/python"; }; then
    python=$(choose_python)
    say "making $venv with $python"
    mkdir -p "$(dirname "$venv")"
    "$python" -I -m venv --clear "$venv"
  fi
  say "installing the project and its dependencies (once; again when pyproject.toml changes)"
  install_project "$venv" || fail "pip could not install the project into $venv" \
    "its message stands above" "check pip's configuration (pip config list) and the network, then run this again"
  echo "$state" >"$stamp"
}

# What the installation has compiled is of the sources as they are; without a compiler it has none.
refresh_client() { "$1/bin/python" -I -m shim.compiling || say "the client could not be compiled: $1"; }

main() {
  while [ $# -gt 0 ]; do
    case $1 in
      --needs) needs="$needs $2"; shift 2 ;;
      --wants) wants="$wants $2"; shift 2 ;;
      --) shift; break ;;
      *) fail "unknown option $1" "see the head of scripts/bootstrap.sh" "make help" ;;
    esac
  done
  [ "$(uname -s)" = Linux ] || fail "this is $(uname -s)" "the sandbox is made of Linux namespaces" \
    "run it on Linux, or in a Linux virtual machine"
  install_tools
  local venv
  venv=$(venv_path)
  exec 9<"$tree"
  if command -v flock >/dev/null; then flock 9; fi
  prepare_venv "$venv"
  refresh_client "$venv"
  exec 9<&-
  [ $# -gt 0 ] || return 0
  export PATH="$venv/bin:$PATH"
  exec "$@"
}

main "$@"
