"""Render an enclosure as a bubblewrap command line. Pure: descriptors are numbers the caller fills.

Options go through `--args` and variables with them: /proc/1/cmdline is readable inside.
"""

from collections.abc import Callable, Sequence

import msgspec

from sandbox.spec import Enclosure, Mount, MountKind

NETWORKS = ("none", "prepared")

ISOLATION = (
    "--die-with-parent",
    "--new-session",
    "--unshare-user",
    "--disable-userns",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
)

# Says that it was reached (the halves $2 and $1 in this order, on bwrap's own error output: who merely
# repeats its arguments never says that), then gives the command its real error output. `exec` yields
# 127 and 126 as a shell would, which bwrap itself does not.
ENTRY = 'printf %s "$2$1" >&2; exec 2>&3 3>&-; shift 2; exec "$@"'
ENTRY_STDERR = 3  # dash redirects single-digit descriptors only


class Descriptors(msgspec.Struct, frozen=True, kw_only=True):
    """Descriptor numbers in bwrap. `data` has one for each DATA mount, in the order of the mounts."""

    args: int
    data: tuple[int, ...] = ()
    seccomp: int | None = None
    info: int | None = None  # gets {"child-pid": N} while bwrap starts
    status: int | None = None  # gets {"exit-code": N} only if the command was executed inside


def data_of(spec: Enclosure) -> tuple[bytes, ...]:
    """What must be readable from `Descriptors.data`, one after another."""
    return tuple(mount.content for mount in spec.mounts if mount.kind is MountKind.DATA)


def options(spec: Enclosure, fds: Descriptors) -> list[str]:
    """All of bwrap's options. Raises ValueError for a spec that contradicts itself."""
    _check(spec, fds)
    rendered = [*ISOLATION, "--uid", str(spec.uid), "--gid", str(spec.gid), "--hostname", spec.hostname]
    if spec.network == "none":
        rendered.append("--unshare-net")
    rendered.append("--clearenv")
    for name, value in spec.env.items():
        rendered += ["--setenv", name, value]
    rendered += _mounts(spec.mounts, fds.data)
    # Last, or the mount points above could not be made; without it `/` and PATH stay writable.
    rendered += ["--remount-ro", "/", "--chdir", spec.workdir]
    for option, number in (
        ("--seccomp", fds.seccomp),
        ("--info-fd", fds.info),
        ("--json-status-fd", fds.status),
    ):
        if number is not None:
            rendered += [option, str(number)]
    return rendered


def args_file(spec: Enclosure, fds: Descriptors) -> bytes:
    """What must be readable from `fds.args`."""
    return b"".join(option.encode("utf-8", "surrogateescape") + b"\0" for option in options(spec, fds))


def argv(spec: Enclosure, *, bwrap: str, args_fd: int) -> list[str]:
    """The command line for a spec whose argv is executed as it is."""
    return [bwrap, "--args", str(args_fd), "--", *spec.argv]


def entry_argv(spec: Enclosure, *, bwrap: str, args_fd: int, halves: tuple[str, str]) -> list[str]:
    """The command line for a spec whose entry is announced: bwrap's descriptor 2 gets the second half
    and then the first, and the command's error output is what `ENTRY_STDERR` is in bwrap."""
    return [bwrap, "--args", str(args_fd), "--", *_entry(spec), *halves, *spec.argv]


def _entry(spec: Enclosure) -> list[str]:
    """What runs first inside. The process limit is set here: outside it would count the whole uid."""
    prefix = ["/usr/bin/setsid", "-c"] if spec.terminal else []
    if spec.limits.pids is not None:
        prefix += ["/usr/bin/prlimit", f"--nproc={spec.limits.pids}", "--"]
    return [*prefix, "/bin/sh", "-c", ENTRY, "sekisho"]


def _check(spec: Enclosure, fds: Descriptors) -> None:
    if spec.network not in NETWORKS:
        raise ValueError(f"network must be one of {NETWORKS}, not {spec.network!r}")
    if not spec.argv or spec.argv[0].startswith("-"):
        raise ValueError(f"not a command: {spec.argv!r}")
    if len(fds.data) != len(data_of(spec)):
        raise ValueError(f"{len(data_of(spec))} data mounts, {len(fds.data)} descriptors")
    texts = [*spec.argv, *spec.env, *spec.env.values(), *(m.target for m in spec.mounts)]
    if any("\0" in text for text in texts + [mount.source for mount in spec.mounts]):
        raise ValueError("a NUL byte would end an option early")


def _mounts(mounts: Sequence[Mount], data_fds: Sequence[int]) -> list[str]:
    numbers = iter(data_fds)
    rendered: list[str] = []
    for mount in mounts:
        rendered += _mount(mount, numbers.__next__)
    return rendered


_BINDS = {MountKind.RO: "--ro-bind", MountKind.RO_TRY: "--ro-bind-try", MountKind.RW: "--bind"}


def _mount(mount: Mount, next_fd: Callable[[], int]) -> list[str]:
    match mount.kind:
        case MountKind.RO | MountKind.RO_TRY | MountKind.RW:
            return [_BINDS[mount.kind], mount.source, mount.target]
        case MountKind.TMPFS:
            size = ["--size", str(mount.size)] if mount.size else []
            return [*size, "--perms", f"{mount.mode:04o}", "--tmpfs", mount.target]
        case MountKind.DATA:
            return ["--perms", f"{mount.mode:04o}", "--ro-bind-data", str(next_fd()), mount.target]
        case MountKind.LINK:
            return ["--symlink", mount.source, mount.target]
        case MountKind.PROC:
            return ["--proc", mount.target]
        case MountKind.DEV:
            return ["--dev", mount.target]
