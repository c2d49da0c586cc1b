"""Render an enclosure as the body of the engine's `POST /containers/create`. Pure.

Format: Docker Engine API 1.41, ContainerConfig and HostConfig. The root is the image's, read-only.
"""

from collections.abc import Mapping

import msgspec

from sandbox.docker.profile import profile
from sandbox.docker.view import View, view
from sandbox.spec import START_IN, Enclosure, Limits, Mount

ENTRY_DIR = "/.sekisho"
# Runs first inside: says that it stands there, waits, then becomes the command. When the launcher dies
# first the waiting ends without a line. Without an engine's init the shell stays, so that something adopts
# and reaps what the command leaves.
READY, GO = b"ready\n", b"go\n"
_WAIT = f"echo ready >{ENTRY_DIR}/proof && read -r _sekisho <{ENTRY_DIR}/go && unset _sekisho || exit 125; "
ENTRY = _WAIT + START_IN + 'exec "$@"'
ONE_OUTPUT = "exec 2>&1; "  # else the engine carries the two apart, and their order is lost
ENTRY_AS_INIT = _WAIT + START_IN + '"$@"; exit $?'

# What belongs to the kernel as a whole. Docker's own list is shorter; naming one replaces the other.
MASKED = (
    "/sys",
    *(
        f"/proc/{name}"
        for name in (
            "acpi", "asound", "driver", "dynamic_debug", "interrupts", "kallsyms", "kcore", "keys", "kmsg",
            "kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "mtrr", "pressure", "sched_debug",
            "scsi", "slabinfo", "sysrq-trigger", "timer_list", "timer_stats", "vmallocinfo",
        )
    ),
)  # fmt: skip
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys")
# Where the engine puts its init; what is mounted there would hide it.
HOLDING_INIT = ("/sbin", "/usr", "/usr/sbin")
# Set by the engine on its own.
ENGINE_ENV = ("HOSTNAME", "TERM", "container")
PERIOD = 1_000_000_000  # nano cpus of one core
VOLUME_SIZE = 64 << 20


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """What an image says about itself. `volumes` would become anonymous volumes on the disk."""

    id: str
    env: dict[str, str] = {}
    volumes: tuple[str, ...] = ()


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine can do. `init`: it has an init of its own to reap and forward; `remaps`: it maps users,
    which a container that writes the person's files must not have."""

    init: bool = True
    remaps: bool = False
    machine: str | None = None


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Folders and files outside that were laid for this container: `entry` holds the two FIFOs, `trees` are
    by the tree's target, `files` by the DATA mount's."""

    entry: str
    trees: Mapping[str, str] = {}
    files: Mapping[str, str] = {}


def body(
    spec: Enclosure,
    image: Image,
    sources: Sources,
    *,
    traits: Traits = Traits(),  # noqa: B008  # frozen
    labels: Mapping[str, str] | None = None,
    stdin: bool = False,
    one_output: bool = False,
) -> dict[str, object]:
    """The whole body. Raises EnclosureError for what a container cannot have, ValueError for a spec that
    contradicts itself. `one_output`: standard output and error lead to one place outside."""
    _check(spec)
    shown = view(spec.mounts)
    init = traits.init and not any(mount.target in HOLDING_INIT for mount in shown.binds)
    return {
        "Image": image.id,
        "Hostname": spec.hostname,
        "User": f"{spec.uid}:{spec.gid}",
        "WorkingDir": spec.workdir,
        "Entrypoint": ["/bin/sh", "-c", _entry(init, one_output), "sekisho", spec.start_in],
        "Cmd": list(spec.argv),
        "Env": environment(spec.env, image.env),
        "Labels": dict(labels or {}),
        "Tty": spec.terminal,
        "OpenStdin": stdin,
        "StdinOnce": stdin,
        "AttachStdin": stdin,
        "AttachStdout": True,
        "AttachStderr": True,
        "Healthcheck": {"Test": ["NONE"]},
        "StopSignal": "SIGTERM",
        "HostConfig": _host(spec, shown, image, sources, traits) | {"Init": init},
    }


def _check(spec: Enclosure) -> None:
    if spec.network not in ("none", "prepared"):
        raise ValueError(f"network must be none or prepared, not {spec.network!r}")
    if not spec.argv or any("\0" in text for text in (*spec.argv, *spec.env, *spec.env.values())):
        raise ValueError(f"not a command: {spec.argv!r}")


def _entry(init: bool, one_output: bool) -> str:
    return (ONE_OUTPUT if one_output else "") + (ENTRY if init else ENTRY_AS_INIT)


def environment(env: Mapping[str, str], image_env: Mapping[str, str]) -> list[str]:
    """Exactly `env`: a name without "=" takes away what image and engine would add."""
    extra = [name for name in dict.fromkeys((*image_env, *ENGINE_ENV)) if name not in env]
    return [*(f"{name}={value}" for name, value in env.items()), *extra]


def _host(spec: Enclosure, shown: View, image: Image, sources: Sources, traits: Traits) -> dict[str, object]:
    return {
        "NetworkMode": "none",
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "UsernsMode": "host" if traits.remaps else "",
        "ReadonlyRootfs": True,
        "Privileged": False,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true", f"seccomp={profile(traits.machine)}"],
        "MaskedPaths": list(dict.fromkeys((*MASKED, *shown.masked))),
        "ReadonlyPaths": [
            path for path in dict.fromkeys((*READ_ONLY, *shown.readonly)) if path not in MASKED
        ],
        # Ports below 1024 stay closed to an ordinary user, as in any namespace.
        "Sysctls": {"net.ipv4.ip_unprivileged_port_start": "1024"},
        "Mounts": _mounts(shown, sources),
        "Tmpfs": _tmpfs(spec, shown, image),
        "LogConfig": {"Type": "none"},  # output is attached; a log would fill the disk
        "RestartPolicy": {"Name": "no"},
        "ShmSize": VOLUME_SIZE,
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        **_limits(spec.limits),
    }


def _limits(limits: Limits) -> dict[str, object]:
    rendered: dict[str, object] = {}
    if limits.memory is not None:
        rendered |= {"Memory": limits.memory, "MemorySwap": limits.memory}
    if limits.pids is not None:
        rendered["PidsLimit"] = limits.pids
    if limits.cpus is not None:
        rendered["NanoCpus"] = int(limits.cpus * PERIOD)
    return rendered


def bind(source: str, target: str, *, read_only: bool) -> dict[str, object]:
    """A bind mount whose source must exist. What is mounted below a read-only one would stay writable there
    on engines before 25: it is left out."""
    options = {"Propagation": "rprivate", "NonRecursive": read_only}
    return {
        "Type": "bind",
        "Source": source,
        "Target": target,
        "ReadOnly": read_only,
        "BindOptions": options,
    }


def _mounts(shown: View, sources: Sources) -> list[dict[str, object]]:
    laid = [(sources.trees[tree.target], tree.target) for tree in shown.trees]
    laid += [(sources.files[file.target], file.target) for file in shown.files]
    laid.append((sources.entry, ENTRY_DIR))
    own = [bind(mount.source, mount.target, read_only=mount.kind.value == "ro") for mount in shown.binds]
    return own + [bind(source, target, read_only=True) for source, target in laid]


def _tmpfs(spec: Enclosure, shown: View, image: Image) -> dict[str, str]:
    rendered = {mount.target: _tmpfs_options(spec, mount) for mount in shown.tmpfs}
    taken = {*rendered, *(bound.target for bound in shown.binds), *(tree.target for tree in shown.trees)}
    for volume in image.volumes:
        if volume.rstrip("/") not in taken:
            rendered[volume.rstrip("/")] = _options(spec, VOLUME_SIZE, 0o755)
    return rendered


def _tmpfs_options(spec: Enclosure, mount: Mount) -> str:
    return _options(spec, mount.size, mount.mode)


def _options(spec: Enclosure, size: int, mode: int) -> str:
    bounded = f",size={size}" if size else ""
    return f"rw,exec,nosuid,nodev,mode={mode:04o},uid={spec.uid},gid={spec.gid}{bounded}"
