"""The view a container starts from: the image is the system; people, names and folders are ours. Pure."""

from collections.abc import Mapping

from sandbox.base import HOSTS, NSSWITCH, RESOLV_CONF
from sandbox.environment import BUNDLE_NAMES, EDITORS, NO_PROMPTS, PAGERS, PROXY_NAMES
from sandbox.spec import Mount, MountKind

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Of an image's own variables these would undo what makes the tools inside trust and find the gatekeeper.
OURS = {
    *BUNDLE_NAMES,
    *PROXY_NAMES,
    *(name.lower() for name in PROXY_NAMES),
    *NO_PROMPTS,
    *EDITORS,
    *PAGERS,
    *("NO_PROXY", "no_proxy", "HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "XDG_RUNTIME_DIR"),
    *("GIT_ASKPASS", "SSH_ASKPASS", "TERM", "CI", "LD_PRELOAD", "LD_AUDIT", "HOSTNAME"),
}


def base_mounts(
    *,
    home: str = "/home/agent",
    user: str = "agent",
    uid: int = 1000,
    gid: int = 1000,
    tmp_size: int = 1 << 30,
    home_size: int = 1 << 30,
) -> tuple[Mount, ...]:
    """What sandbox.base.base_mounts gives besides this machine's system. Sizes in bytes."""
    root = "" if uid == 0 else "root:x:0:0:root:/root:/bin/sh\n"
    passwd = f"{user}:x:{uid}:{gid}:{user}:{home}:/bin/bash\n{root}"
    passwd += "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    group = f"{user}:x:{gid}:\n" + ("" if gid == 0 else "root:x:0:\n") + "nogroup:x:65534:\n"
    return (
        Mount(kind=MountKind.PROC, target="/proc"),
        Mount(kind=MountKind.DEV, target="/dev"),
        _data("/etc/passwd", passwd.encode()),
        _data("/etc/group", group.encode()),
        _data("/etc/nsswitch.conf", NSSWITCH),
        _data("/etc/hosts", HOSTS),
        _data("/etc/resolv.conf", RESOLV_CONF),
        Mount(kind=MountKind.TMPFS, target="/tmp", size=tmp_size, mode=0o1777),
        Mount(kind=MountKind.TMPFS, target=home, size=home_size, mode=0o700),
        Mount(kind=MountKind.TMPFS, target="/run", size=16 << 20, mode=0o755),
        Mount(kind=MountKind.TMPFS, target="/var/tmp", size=tmp_size, mode=0o1777),
    )


def image_path(env: Mapping[str, str]) -> str:
    """Where the image's own tools are."""
    return env.get("PATH") or DEFAULT_PATH


def image_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The image's variables that stay: where its tools look for their parts."""
    return {name: value for name, value in env.items() if name not in OURS}


def _data(path: str, content: bytes) -> Mount:
    return Mount(kind=MountKind.DATA, target=path, content=content, mode=0o644)
