"""The rendering: what always holds, in an order that holds it."""

import msgspec
import pytest

from sandbox.base import HOSTS, System, base_mounts
from sandbox.bwrap import Descriptors, args_file, data_of, entry_argv, options, with_word
from sandbox.spec import Enclosure, Limits, Mount, MountKind

SYSTEM = System(
    links=(("bin", "usr/bin"),), folders=("lib64",), etc=("java-17",), proc=("sys", "fs", "kcore")
)


def spec(**changes: object) -> Enclosure:
    plain = Enclosure(argv=("true",), workdir="/w", mounts=base_mounts(SYSTEM), env={"A": "1"})
    return msgspec.structs.replace(plain, **changes)


def rendered(made: Enclosure) -> list[str]:
    return options(made, Descriptors(args=4, seccomp=5, data=tuple(range(7, 7 + len(data_of(made))))))


@pytest.mark.parametrize(
    "option",
    ["--die-with-parent", "--new-session", "--unshare-user", "--disable-userns", "--unshare-pid",
     "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--clearenv"],
)  # fmt: skip
@pytest.mark.parametrize("network", ["none", "prepared"])
def test_isolation_is_always_there(option: str, network: str) -> None:
    assert option in rendered(spec(network=network))


def test_network_is_unshared_only_where_none_was_prepared() -> None:
    assert "--unshare-net" in rendered(spec())
    assert "--unshare-net" not in rendered(spec(network="prepared"))
    with pytest.raises(ValueError, match="network must be"):
        rendered(spec(network="host"))


def test_root_is_made_read_only_after_the_last_mount() -> None:
    words = rendered(spec())
    last = max(index for index, word in enumerate(words) if word in ("--ro-bind", "--tmpfs", "--symlink"))
    assert words.index("--remount-ro") > last
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert words[words.index("--seccomp") + 1] == "5"


@pytest.mark.parametrize(
    "mount, expected",
    [
        (Mount(kind=MountKind.RO, source="/s", target="/t"), ["--ro-bind", "/s", "/t"]),
        (Mount(kind=MountKind.RO_TRY, source="/s", target="/t"), ["--ro-bind-try", "/s", "/t"]),
        (Mount(kind=MountKind.RW, source="/s", target="/t"), ["--bind", "/s", "/t"]),
        (Mount(kind=MountKind.LINK, source="s", target="/t"), ["--symlink", "s", "/t"]),
        (Mount(kind=MountKind.TMPFS, target="/t", size=9, mode=0o700),
         ["--size", "9", "--perms", "0700", "--tmpfs", "/t"]),
        (Mount(kind=MountKind.DATA, target="/t", mode=0o644),
         ["--perms", "0644", "--ro-bind-data", "7", "/t"]),
        (Mount(kind=MountKind.PROC, target="/proc"), ["--proc", "/proc"]),
        (Mount(kind=MountKind.DEV, target="/dev"), ["--dev", "/dev"]),
    ],
)  # fmt: skip
def test_mount(mount: Mount, expected: list[str]) -> None:
    words = rendered(spec(mounts=(mount,)))
    assert words[words.index("A") + 2 : words.index("--remount-ro")] == expected


@pytest.mark.parametrize("argv", [(), ("--help",), ("-x", "y")])
def test_what_is_no_command_is_refused(argv: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not a command"):
        rendered(spec(argv=argv))


NUL_MOUNT = Mount(kind=MountKind.RO, source="/a\0", target="/b")


@pytest.mark.parametrize(
    "changes",
    [{"env": {"A": "x\0--bind\0/\0/"}}, {"env": {"A\0": ""}}, {"argv": ("a\0b",)}, {"workdir": "/\0"},
     {"mounts": (NUL_MOUNT,)}, {"hostname": "a\0b"}],
)  # fmt: skip
def test_nul_cannot_add_an_option(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="NUL"):
        rendered(spec(**changes))


def test_data_descriptors_must_fit() -> None:
    with pytest.raises(ValueError, match="descriptors"):
        options(spec(), Descriptors(args=4, data=(7,)))


def test_text_that_is_no_utf8_survives() -> None:
    made = spec(env={"NAME": "\udcff"}, mounts=())
    assert b"NAME\0\xff\0" in args_file(made, Descriptors(args=4))


def test_terminal_and_process_limit_come_before_the_command() -> None:
    made = with_word(spec(terminal=True, limits=Limits(pids=9)), "word")
    words = entry_argv(made, bwrap="/b", args_fd=4)
    assert words[:8] == ["/b", "--args", "4", "--", "/usr/bin/setsid", "-c", "/usr/bin/prlimit", "--nproc=9"]
    assert words[-1] == "true"
    assert "word" not in words


def test_base_has_names_and_private_folders() -> None:
    mounts = {mount.target: mount for mount in base_mounts(SYSTEM, home="/home/a", uid=7)}
    assert mounts["/etc/hosts"].content == HOSTS
    assert b"agent:x:7:" in mounts["/etc/passwd"].content
    assert mounts["/home/a"].kind is MountKind.TMPFS
    assert mounts["/proc/sys"].kind is MountKind.RO
    assert mounts["/proc/kcore"].source == "/dev/null"
    assert mounts["/proc/fs"].kind is MountKind.TMPFS
    assert not {"/", "/etc", "/root", "/home", "/run/docker.sock"} & {m.source for m in mounts.values()}
