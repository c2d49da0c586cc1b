"""Run one command over files an agent touched: no network, nothing of home, thrown away afterwards.

git executes code that a repository carries (fsmonitor, filters, nested repositories), so everything
that looks into such a tree goes through here. May be called from any thread, which it blocks.
"""

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sandbox import bwrap
from sandbox.base import look_at_system, system_mounts
from sandbox.descriptors import memory_file
from sandbox.errors import from_bwrap
from sandbox.exchange import Exchange
from sandbox.launch import find_bwrap
from sandbox.seccomp import filter_bytes
from sandbox.spec import Enclosure, Mount, MountKind

ENV = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    # The files belong to whoever launches; inside, an owner may have no name.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}
# A hostile tree may make a tool grow or fork without end: bytes of address space, processes.
BOUNDS = ("/usr/bin/prlimit", f"--as={8 << 30}", "--nproc=256", "--core=0", "--")

PathLike = str | os.PathLike[str]


def enclosure(
    argv: Sequence[str],
    *,
    ro: Sequence[PathLike] = (),
    rw: Sequence[PathLike] = (),
    cwd: PathLike,
    env: Mapping[str, str] | None = None,
    mounts: Sequence[Mount] = (),
) -> Enclosure:
    """The spec: `ro` and `rw` under their own paths, inner ones on top of outer ones, then `mounts`."""
    binds = [_bind(MountKind.RO, path) for path in ro] + [_bind(MountKind.RW, path) for path in rw]
    spec = Enclosure(
        argv=(*BOUNDS, *argv),
        workdir=os.path.abspath(cwd),
        mounts=(
            *system_mounts(look_at_system()),
            Mount(kind=MountKind.TMPFS, target="/tmp", size=1 << 30, mode=0o1777),
            Mount(kind=MountKind.TMPFS, target="/run", size=1 << 20),
            *sorted(binds, key=lambda mount: mount.target.count("/")),
            *mounts,
        ),
        env=ENV | dict(env or {}),
    )
    return bwrap.with_mark(spec)


def _bind(kind: MountKind, path: PathLike) -> Mount:
    absolute = os.path.abspath(path)
    return Mount(kind=kind, source=absolute, target=absolute)


def run(
    argv: Sequence[str],
    *,
    ro: Sequence[PathLike] = (),
    rw: Sequence[PathLike] = (),
    cwd: PathLike,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    timeout: float = 60,
    output_limit: int = 256 << 20,
    mounts: Sequence[Mount] = (),
) -> "subprocess.CompletedProcess[bytes]":
    """Run a command and return its status and what it wrote. `timeout` in seconds, `env` is added to ENV.

    The status is 127 if there is no such command inside. Raises EnclosureError when it could not be
    enclosed, subprocess.TimeoutExpired, and OutputLimitExceeded past `output_limit` bytes on either
    output; nothing is left running in any case.
    """
    spec = enclosure(argv, ro=ro, rw=rw, cwd=cwd, env=env, mounts=mounts)
    deadline = time.monotonic() + timeout
    with started(spec) as (process, status_fd):
        exchange = Exchange(process, status_fd, stdin or b"", output_limit)
        try:
            if not exchange.until(deadline):
                raise subprocess.TimeoutExpired(list(argv), timeout, *exchange.outputs)
        finally:
            process.kill()
            process.wait()
            exchange.close()
    output, errors = exchange.outputs
    # bwrap reports a status only for a command that was executed inside.
    codes = [document["exit-code"] for document in exchange.documents() if "exit-code" in document]
    if not codes:
        raise from_bwrap(errors.decode(errors="replace"), process.returncode)
    return subprocess.CompletedProcess(list(argv), codes[0], output, errors)


@contextlib.contextmanager
def started(spec: Enclosure) -> "Iterator[tuple[subprocess.Popen[bytes], int]]":
    """A block with the sandbox's process, whose three standard streams are pipes, and the descriptor of what
    bwrap reports (see `Exchange`). The block must end the process."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    opened = [writing]
    try:
        opened += (data := [memory_file(content) for content in bwrap.data_of(spec)])
        opened.append(seccomp := memory_file(filter_bytes()))
        fds = bwrap.Descriptors(args=-1, data=tuple(data), seccomp=seccomp, status=writing)
        opened.append(args := memory_file(bwrap.args_file(spec, fds)))
        process = subprocess.Popen(
            [find_bwrap(), "--args", str(args), "--", *bwrap.checked(spec)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={},
            pass_fds=opened,
            start_new_session=True,
        )
        while opened:
            os.close(opened.pop())
        with process:
            yield process, reading
    finally:
        for fd in (*opened, reading):
            os.close(fd)


def wrapper_argv(
    folder: PathLike,
    argv: Sequence[str],
    *,
    ro: Sequence[PathLike] = (),
    rw: Sequence[PathLike] = (),
    cwd: PathLike,
    env: Mapping[str, str] | None = None,
    mounts: Sequence[Mount] = (),
) -> list[str]:
    """Write a script into `folder` (yours alone, and kept while it is used) and return the words that
    run `argv` enclosed, with what is appended to them: `shlex.join` of it suits git's --upload-pack.

    ValueError for DATA mounts: the script has no one to feed them.
    """
    spec = enclosure(argv, ro=ro, rw=rw, cwd=cwd, env=env, mounts=mounts)
    if bwrap.data_of(spec):
        raise ValueError("a wrapper script cannot carry data mounts")
    options = bwrap.options(spec, bwrap.Descriptors(args=-1, seccomp=_SCRIPT_FD))
    command = shlex.join(["/usr/bin/env", "-i", find_bwrap(), *options, "--", *bwrap.checked(spec)])
    compiled = Path(folder, "filter.bpf")
    compiled.write_bytes(filter_bytes())
    script = Path(folder, "enclosed")
    script.write_text(
        f"#!/bin/sh\nset -e\nexec {_SCRIPT_FD}<{shlex.quote(str(compiled.absolute()))}\ncd /\n"
        f'exec {command} "$@"\n'
    )
    script.chmod(0o700)
    return [str(script.absolute())]


_SCRIPT_FD = 9  # the last that every sh can redirect
