"""Render an enclosure as a bubblewrap command line. Pure: descriptors are numbers the caller fills.

Options go through `--args` and variables with them: /proc/1/cmdline is readable inside.
"""

from collections.abc import Callable, Sequence

import msgspec

from sandbox.spec import START_IN, Enclosure, Mount, MountKind

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

# Runs first inside. Only in this very view is there the file it reads: it repeats the word there on
# bwrap's own error output, waits for a line to let it go on, then gives the command its real one. Anywhere
# else, and where the launcher is gone, it ends without running the command. `exec` yields 127 and 126 as a
# shell would, which bwrap itself does not.
ENTRY_FILE = "/.sekisho"
ENTRY = (
    f'read -r _sekisho <{ENTRY_FILE} || exit 125; printf %s "$_sekisho" >&2; '
    f'read -r _sekisho <&4 || exit 125; {START_IN}exec 2>&3 3>&- 4<&-; unset _sekisho; exec "$@"'
)
CHECK = f'test -L {ENTRY_FILE} || exit 125; exec "$@"'
ENTRY_STDERR, ENTRY_GATE = 3, 4  # dash redirects single-digit descriptors only


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
    if any("\0" in text for text in (*rendered, *spec.argv)):
        raise ValueError("a NUL byte would end an option early")
    return rendered


def args_file(spec: Enclosure, fds: Descriptors) -> bytes:
    """What must be readable from `fds.args`."""
    return b"".join(option.encode("utf-8", "surrogateescape") + b"\0" for option in options(spec, fds))


def with_word(spec: Enclosure, word: str) -> Enclosure:
    """The spec with the file that `entry_argv` reads `word` from."""
    mark = Mount(kind=MountKind.DATA, target=ENTRY_FILE, content=f"{word}\n".encode(), mode=0o444)
    return msgspec.structs.replace(spec, mounts=(*spec.mounts, mark))


def with_mark(spec: Enclosure) -> Enclosure:
    """The spec with the mark that `checked` looks for."""
    mark = Mount(kind=MountKind.LINK, source="inside", target=ENTRY_FILE)
    return msgspec.structs.replace(spec, mounts=(*spec.mounts, mark))


def checked(spec: Enclosure) -> list[str]:
    """The command of a spec made by `with_mark`, which does not run anywhere else."""
    return ["/bin/sh", "-c", CHECK, "sekisho", *spec.argv]


def entry_argv(spec: Enclosure, *, bwrap: str, args_fd: int) -> list[str]:
    """The command line for a spec made by `with_word`: once inside, bwrap's descriptor 2 gets the word, and a
    line from `ENTRY_GATE` lets the command start, whose error output is what `ENTRY_STDERR` is in bwrap."""
    return [bwrap, "--args", str(args_fd), "--", *_entry(spec), *spec.argv]


def _entry(spec: Enclosure) -> list[str]:
    """What runs first inside. The process limit is set here: outside it would count the whole uid."""
    prefix = ["/usr/bin/setsid", "-c"] if spec.terminal else []
    if spec.limits.pids is not None:
        prefix += ["/usr/bin/prlimit", f"--nproc={spec.limits.pids}", "--"]
    return [*prefix, "/bin/sh", "-c", ENTRY, "sekisho", spec.start_in]


def _check(spec: Enclosure, fds: Descriptors) -> None:
    if spec.network not in NETWORKS:
        raise ValueError(f"network must be one of {NETWORKS}, not {spec.network!r}")
    if not spec.argv or spec.argv[0].startswith("-"):
        raise ValueError(f"not a command: {spec.argv!r}")
    if len(fds.data) != len(data_of(spec)):
        raise ValueError(f"{len(data_of(spec))} data mounts, {len(fds.data)} descriptors")


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
