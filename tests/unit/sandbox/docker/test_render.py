"""The body that creates a container: nothing in it is weaker than the spec."""

import json
from typing import Any

import pytest

from sandbox.docker.base import base_mounts
from sandbox.docker.render import ENTRY, ENTRY_AS_INIT, Image, Sources, Traits, body
from sandbox.spec import Enclosure, Limits, Mount, MountKind

IMAGE = Image(id="sha256:abc", env={"PATH": "/x", "GONE": "1"}, volumes=("/var/lib/thing/",))


def spec(**changes: Any) -> Enclosure:
    fields: dict[str, Any] = {
        "argv": ("tool", "$(x)", "a b"),
        "workdir": "/work",
        "mounts": (
            *base_mounts(uid=7, gid=8),
            Mount(kind=MountKind.RW, source="/s/clone", target="/work"),
            Mount(kind=MountKind.RO, source="/s/tools", target="/tools"),
        ),
        "env": {"PATH": "/usr/bin", "A": "b"},
        "uid": 7,
        "gid": 8,
    }
    return Enclosure(**fields | changes)


def rendered(changed: Enclosure | None = None, **options: Any) -> dict[str, Any]:
    given = changed or spec()
    files = {m.target: f"/f{m.target}" for m in given.mounts if m.kind is MountKind.DATA}
    sources = Sources(entry="/f/entry", files=files)
    traits = options.pop("traits", Traits(machine="x86_64"))
    return body(given, IMAGE, sources, traits=traits, **options)


def test_host_config_holds_everything_back() -> None:
    host = rendered()["HostConfig"]
    expected = {
        "NetworkMode": "none",
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "UsernsMode": "",
        "ReadonlyRootfs": True,
        "Privileged": False,
        "CapDrop": ["ALL"],
        "LogConfig": {"Type": "none"},
        "RestartPolicy": {"Name": "no"},
        "Init": True,
    }
    assert {name: host[name] for name in expected} == expected
    assert not {"CapAdd", "Devices", "PidMode", "UTSMode", "PortBindings", "Binds", "VolumesFrom"} & set(host)
    assert host["SecurityOpt"][0] == "no-new-privileges:true"
    assert json.loads(host["SecurityOpt"][1].removeprefix("seccomp="))["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {"/proc/kcore", "/proc/keys", "/proc/sysrq-trigger", "/sys"} <= set(host["MaskedPaths"])
    assert "/proc/sys" in host["ReadonlyPaths"]


def test_mounts_must_exist_and_are_private() -> None:
    mounts = {mount["Target"]: mount for mount in rendered()["HostConfig"]["Mounts"]}
    assert mounts["/work"]["ReadOnly"] is False
    assert mounts["/tools"]["ReadOnly"] is True
    assert mounts["/tools"]["BindOptions"] == {"Propagation": "rprivate", "NonRecursive": True}
    assert mounts["/.sekisho"] == mounts["/.sekisho"] | {"Source": "/f/entry", "ReadOnly": True}
    assert mounts["/etc/passwd"]["Source"] == "/f/etc/passwd"
    assert {mount["Type"] for mount in mounts.values()} == {"bind"}


def test_private_folders_are_bounded_and_the_persons() -> None:
    tmpfs = rendered()["HostConfig"]["Tmpfs"]
    assert tmpfs["/tmp"] == "rw,exec,nosuid,nodev,mode=1777,uid=7,gid=8,size=1073741824"
    assert tmpfs["/home/agent"].startswith("rw,exec,nosuid,nodev,mode=0700,uid=7,gid=8")
    # Instead of an anonymous volume on the disk.
    assert "size=67108864" in tmpfs["/var/lib/thing"]


def test_command_is_never_shell_code() -> None:
    made = rendered()
    assert made["Entrypoint"] == ["/bin/sh", "-c", ENTRY, "sekisho", ""]
    assert made["Cmd"] == ["tool", "$(x)", "a b"]
    assert made["User"] == "7:8"


def test_environment_is_exactly_the_specs() -> None:
    entries = rendered()["Env"]
    assert entries[:2] == ["PATH=/usr/bin", "A=b"]
    # A name without a value takes a variable of the image or the engine away.
    assert set(entries[2:]) == {"GONE", "HOSTNAME", "TERM", "container"}


def test_limits_are_the_engines_to_enforce() -> None:
    host = rendered(spec(limits=Limits(memory=1 << 20, pids=9, cpus=1.5, time=3)))["HostConfig"]
    assert (host["Memory"], host["MemorySwap"]) == (1 << 20, 1 << 20)
    assert (host["PidsLimit"], host["NanoCpus"]) == (9, 1_500_000_000)


def test_without_an_init_the_shell_stays() -> None:
    plain = rendered(traits=Traits(init=False, machine="x86_64"))
    assert (plain["HostConfig"]["Init"], plain["Entrypoint"][2]) == (False, ENTRY_AS_INIT)
    hidden = spec(mounts=(*spec().mounts, Mount(kind=MountKind.RO, source="/usr", target="/usr")))
    assert rendered(hidden)["HostConfig"]["Init"] is False


def test_remapping_engine_must_not_remap_this_one() -> None:
    assert rendered(traits=Traits(remaps=True, machine="x86_64"))["HostConfig"]["UsernsMode"] == "host"


def test_terminal_and_input() -> None:
    with_terminal = rendered(spec(terminal=True), stdin=True)
    assert (with_terminal["Tty"], with_terminal["OpenStdin"], with_terminal["StdinOnce"]) == (
        True,
        True,
        True,
    )
    assert rendered()["OpenStdin"] is False


@pytest.mark.parametrize(
    "changes",
    [{"network": "host"}, {"argv": ()}, {"argv": ("a\0b",)}, {"env": {"A": "x\0y"}}],
)
def test_contradiction_is_an_error(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"network|not a command"):
        rendered(spec(**changes))
