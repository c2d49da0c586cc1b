"""The view every sandbox starts from: the system read-only, everything else empty and its own."""

import os

import msgspec

from sandbox.spec import Mount, MountKind

SYSTEM_DIRS = ("bin", "sbin", "lib", "lib64", "lib32", "libx32")

# Single entries: /etc as a whole holds host keys, shadow and private keys, which a launcher that runs
# as root could read inside. No profile: it would take the shim and the toolchains off the PATH of a login
# shell, and profile.d often exports tokens. Each entry costs about 0.2 ms at every start.
ETC = (
    "alternatives",
    "crypto-policies",
    "fonts",
    "inputrc",
    "ld.so.cache",
    "localtime",
    "mime.types",
    "os-release",
    "pki/ca-trust",
    "pki/tls/certs",
    "pki/tls/cert.pem",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/cert.pem",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)

RUNTIMES = ("java-", "python3")

# What belongs to the kernel as a whole in /proc. Its owner is root, so with a launcher that is root a
# process inside could write it without any capability (bwrap 0.8 leaves sys/kernel/core_pattern open).
PROC_READ_ONLY = ("sys", "bus", "irq")
PROC_DIRS = ("acpi", "fs", "scsi", "driver", "pressure", "dynamic_debug", "asound")
PROC_FILES = (
    "kcore",
    "keys",
    "kallsyms",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "mtrr",
    "sched_debug",
    "slabinfo",
    "sysrq-trigger",
    "timer_list",
    "timer_stats",
    "vmallocinfo",
)

NSSWITCH = b"passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nservices: files\n"
HOSTS = b"127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"
RESOLV_CONF = b"nameserver 127.0.0.1\noptions timeout:5 attempts:1 edns0\n"


class System(msgspec.Struct, frozen=True, kw_only=True):
    """How this machine's root looks: `links` are /bin and the like that point into /usr, `folders` are
    those that are folders of their own, `etc` the folders of language runtimes there, `proc` what exists
    of the kernel's own in /proc."""

    links: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    etc: tuple[str, ...] = ()
    proc: tuple[str, ...] = ()


def look_at_system(root: str = "/") -> System:
    """Read the layout of this machine."""
    links, folders = [], []
    for name in SYSTEM_DIRS:
        path = os.path.join(root, name)
        if os.path.islink(path):
            links.append((name, os.readlink(path)))
        elif os.path.isdir(path):
            folders.append(name)
    try:
        runtimes = sorted(n for n in os.listdir(os.path.join(root, "etc")) if n.startswith(RUNTIMES))
    except OSError:
        runtimes = []
    names = (*PROC_READ_ONLY, *PROC_DIRS, *PROC_FILES)
    proc = [name for name in names if os.path.exists(os.path.join(root, "proc", name))]
    return System(links=tuple(links), folders=tuple(folders), etc=tuple(runtimes), proc=tuple(proc))


def _ro(path: str) -> Mount:
    return Mount(kind=MountKind.RO, source=path, target=path)


def _data(path: str, content: bytes) -> Mount:
    return Mount(kind=MountKind.DATA, target=path, content=content, mode=0o644)


def system_mounts(system: System) -> tuple[Mount, ...]:
    """/usr and what belongs to it, single files of /etc, /proc and /dev."""
    mounts = [_ro("/usr")]
    mounts += [Mount(kind=MountKind.LINK, source=to, target=f"/{name}") for name, to in system.links]
    mounts += [_ro(f"/{name}") for name in system.folders]
    names = dict.fromkeys((*ETC, *system.etc))
    mounts += [Mount(kind=MountKind.RO_TRY, source=f"/etc/{name}", target=f"/etc/{name}") for name in names]
    mounts += [Mount(kind=MountKind.PROC, target="/proc"), Mount(kind=MountKind.DEV, target="/dev")]
    mounts += [_mask(name) for name in system.proc]
    return tuple(mounts)


def _mask(name: str) -> Mount:
    if name in PROC_READ_ONLY:
        return _ro(f"/proc/{name}")
    if name in PROC_DIRS:
        return Mount(kind=MountKind.TMPFS, target=f"/proc/{name}", size=4096, mode=0o555)
    return Mount(kind=MountKind.RO, source="/dev/null", target=f"/proc/{name}")


def base_mounts(
    system: System,
    *,
    home: str = "/home/agent",
    user: str = "agent",
    uid: int = 1000,
    gid: int = 1000,
    tmp_size: int = 1 << 30,
    home_size: int = 1 << 30,
) -> tuple[Mount, ...]:
    """What `system_mounts` gives, and people, names and private folders. Sizes in bytes.

    /tmp must be writable: an agent client was seen to hang without a word otherwise.
    """
    passwd = f"root:x:0:0:root:/root:/bin/sh\n{user}:x:{uid}:{gid}:{user}:{home}:/bin/bash\n"
    passwd += "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    group = f"root:x:0:\n{user}:x:{gid}:\nnogroup:x:65534:\n"
    return (
        *system_mounts(system),
        _data("/etc/passwd", passwd.encode()),
        _data("/etc/group", group.encode()),
        _data("/etc/nsswitch.conf", NSSWITCH),
        _data("/etc/hosts", HOSTS),
        _data("/etc/resolv.conf", RESOLV_CONF),
        Mount(kind=MountKind.TMPFS, target="/tmp", size=tmp_size, mode=0o1777),
        Mount(kind=MountKind.TMPFS, target=home, size=home_size, mode=0o700),
        Mount(kind=MountKind.TMPFS, target="/run", size=16 << 20, mode=0o755),
        Mount(kind=MountKind.LINK, source="../run", target="/var/run"),
        Mount(kind=MountKind.TMPFS, target="/var/tmp", size=tmp_size, mode=0o1777),
    )
