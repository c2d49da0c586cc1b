"""Start an enclosure: fork, prepare, hand the sockets over, wait for the go, become bubblewrap."""

import json
import os
import secrets
import shutil
import signal
import socket

from sandbox import bwrap, network, process
from sandbox.descriptors import ARGS, Descriptors, Stdio
from sandbox.errors import INSTALL, EnclosureError, from_step
from sandbox.running import GO, Running
from sandbox.spec import Enclosure

_APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"


def find_bwrap() -> str:
    """The absolute path of bubblewrap. Raises EnclosureError."""
    found = shutil.which("bwrap")
    if found is None:
        raise EnclosureError("bwrap-missing", "bwrap was not found on PATH.", INSTALL)
    return os.path.abspath(found)


def start(
    spec: Enclosure,
    *,
    ports: tuple[int, ...] = (),
    stdio: Stdio | None = None,
    bwrap_path: str | None = None,
) -> Running:
    """Fork a child that waits, with its network prepared, for `Running.set_up()`.

    With network "prepared", `Running.sockets` holds the listening sockets (see network.prepare), also
    for each of `ports`. Must be called from a process with one thread: the child lives as long as the
    thread that forked it, and what other threads held would stay locked in it. Raises EnclosureError;
    ValueError for a spec that contradicts itself.
    """
    _require_one_thread()
    path = bwrap_path or find_bwrap()
    word = secrets.token_hex(16)
    spec = bwrap.with_word(spec, word)
    with Descriptors(spec, stdio or Stdio()) as descriptors:
        argv = bwrap.entry_argv(spec, bwrap=path, args_fd=ARGS)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            pid = _fork_child(spec, argv, ports, descriptors.wanted, theirs)
        running = Running(
            pid=pid,
            control=ours,
            ours=descriptors.take(),
            proof=word,
        )
    try:
        running.sockets.update(_receive_sockets(ours))
    except BaseException:
        running.close()
        raise
    return running


def _require_one_thread() -> None:
    if len(os.listdir("/proc/self/task")) != 1:
        raise EnclosureError(
            "launcher-threads",
            "The launcher has more than one thread.",
            "Start the sandbox from a process of its own, before any thread.",
        )


def _fork_child(
    spec: Enclosure, argv: list[str], ports: tuple[int, ...], wanted: dict[int, int], control: socket.socket
) -> int:
    """Signals are held back over the fork: a handler of the launcher must not run in the child."""
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _child(spec, argv, ports, wanted, control, parent)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pid


def _child(
    spec: Enclosure,
    argv: list[str],
    ports: tuple[int, ...],
    wanted: dict[int, int],
    control: socket.socket,
    parent: int,
) -> None:
    """Never returns. What goes wrong is told over `control`."""
    try:
        process.reset_signals()
        process.die_with(parent)
        # Out of the terminal's session: a Ctrl-C there must not reach bwrap.
        os.setsid()
        sockets = network.prepare(ports) if spec.network == "prepared" else {}
        message = json.dumps({"sockets": list(sockets)}).encode()
        socket.send_fds(control, [message], [held.fileno() for held in sockets.values()])
        if control.recv(1) != GO:
            os._exit(1)
        placed = process.place_descriptors(wanted, control.fileno())
        control.detach()
        control = socket.socket(fileno=placed)
        with network.step("execve"):
            process.become_bwrap(argv, parent)
    except network.StepError as failed:
        control.send(json.dumps({"step": failed.step, "errno": failed.number}).encode())
    except BaseException as failure:
        control.send(json.dumps({"step": repr(failure)[:500], "errno": 0}).encode())
    finally:
        os._exit(1)


def _receive_sockets(control: socket.socket) -> dict[str, socket.socket]:
    message, fds, _, _ = socket.recv_fds(control, 65536, 253)
    held = [socket.socket(fileno=fd) for fd in fds]
    answer = json.loads(message or b'{"step": "fork", "errno": 0}')
    if "step" in answer:
        raise from_step(answer["step"], answer["errno"], apparmor=apparmor_restricts(), chroot=in_chroot())
    return dict(zip(answer["sockets"], held, strict=True))


def in_chroot(mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether `/` is a folder of a mount rather than a mount: the kernel lists mounts as seen from `/`, see
    proc_pid_mountinfo(5). False where that cannot be told."""
    try:
        with open(mounts) as lines:
            return all(line.split()[4] != "/" for line in lines)
    except (OSError, IndexError):
        return False


def apparmor_restricts() -> bool:
    """Whether this kernel lets only profiled programs use a user namespace's capabilities."""
    try:
        with open(_APPARMOR) as switch:
            return switch.read().strip() == "1"
    except OSError:
        return False
