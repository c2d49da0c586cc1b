"""The profile refuses exactly what the compiled filter refuses."""

import errno
import json
from typing import Any

import pytest

from sandbox.docker.profile import CONDITIONAL, NAMES_FILE, profile
from sandbox.errors import EnclosureError
from sandbox.seccomp import MACHINES, filter_bytes
from tests.support.needs import skip_or_fail
from tests.unit.sandbox.bpf import ALLOW, ENOSYS, EPERM, verdict

HIGH = 1 << 32
ARGUMENTS: list[tuple[int, ...]] = [
    (),
    (0x11,),
    (0x3D0F00,),
    *[(flag | 0x11,) for flag in (0x20000, 0x2000000, 0x8000000, 0x10000000, 0x40000000, HIGH | 0x10000000)],
    (0x80,),
    *[(family, 1, 0) for family in (*range(46), 200, HIGH | 1, HIGH | 2, HIGH | 40)],
    *[(16, 3, protocol) for protocol in (0, 9, 15, HIGH, HIGH | 9)],
    *[(0, request ^ (1 << bit)) for request in (0x5412, 0x541C) for bit in range(32)],
    *[(0, high << 32 | low) for high in (0, 1, 0xFFFFFFFF) for low in (0x5401, 0x5412, 0x541C, 0x541A)],
    *[(0, 0x5410 | low) for low in range(16)],
]


def answer(document: dict[str, Any], name: str, args: tuple[int, ...]) -> int:
    """What the profile says to a call, as libseccomp reads it: all conditions of one rule must hold."""
    words = [word & (2**64 - 1) for word in (*args, *[0] * (6 - len(args)))]
    for rule in document["syscalls"]:
        if name in rule["names"] and all(_holds(c, words[c["index"]]) for c in rule["args"]):
            return ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else 0x50000 | rule["errnoRet"]
    return 0x50000 | int(document["defaultErrnoRet"])


def _holds(condition: dict[str, Any], word: int) -> bool:
    if condition["op"] == "SCMP_CMP_MASKED_EQ":
        return bool(word & condition["value"] == condition["valueTwo"])
    assert condition["op"] == "SCMP_CMP_EQ"
    return bool(word == condition["value"])


@pytest.mark.parametrize("machine", MACHINES)
def test_profile_and_compiled_filter_agree_on_every_call(machine: str) -> None:
    try:
        from sandbox.docker.generate import names
    except (ImportError, RuntimeError, OSError) as missing:
        skip_or_fail(f"pyseccomp or libseccomp: {missing}")
    document, compiled = json.loads(profile(machine)), filter_bytes(machine)
    for number, name in names(machine).items():
        for args in ARGUMENTS if name in CONDITIONAL else ARGUMENTS[::8]:
            said = answer(document, name, args)
            assert said == verdict(compiled, machine, number, *args), (name, args)


@pytest.mark.parametrize("machine", MACHINES)
def test_profile_compiled_as_runc_does_agrees_too(machine: str) -> None:
    try:
        import pyseccomp as seccomp

        from sandbox.docker.generate import names
    except (ImportError, RuntimeError, OSError) as missing:
        skip_or_fail(f"pyseccomp or libseccomp: {missing}")
    import tempfile

    document, compiled = json.loads(profile(machine)), filter_bytes(machine)
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    arch = {"x86_64": seccomp.Arch.X86_64, "aarch64": seccomp.Arch.AARCH64}[machine]
    if arch != seccomp.system_arch():
        rules.add_arch(arch)
        rules.remove_arch(seccomp.system_arch())
    known = set()
    for number, name in names(machine).items():
        try:
            seccomp.resolve_syscall(arch, number)
            known.add(name)
        except ValueError:
            continue  # runc skips such a name in silence
    ops = {"SCMP_CMP_MASKED_EQ": seccomp.MASKED_EQ, "SCMP_CMP_EQ": seccomp.EQ}
    for rule in document["syscalls"]:
        action = seccomp.ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else seccomp.ERRNO(rule["errnoRet"])
        conditions = [
            seccomp.Arg(c["index"], ops[c["op"]], c["value"], c.get("valueTwo", 0)) for c in rule["args"]
        ]
        for name in set(rule["names"]) & known:
            rules.add_rule(action, name, *conditions)
    with tempfile.TemporaryFile() as sink:
        rules.export_bpf(sink)
        sink.seek(0)
        fresh = sink.read()
    for number, name in names(machine).items():
        for args in ARGUMENTS if name in CONDITIONAL else ARGUMENTS[::64]:
            said, wanted = verdict(fresh, machine, number, *args), verdict(compiled, machine, number, *args)
            assert said == (wanted if name in known else EPERM), (name, args)


def test_new_call_does_not_pass() -> None:
    assert answer(json.loads(profile("x86_64")), "not_invented_yet", ()) == EPERM
    assert verdict(filter_bytes("x86_64"), "x86_64", 470) == ENOSYS


def test_committed_names_are_what_the_generator_makes() -> None:
    try:
        from sandbox.docker.generate import allowed
    except (ImportError, RuntimeError, OSError) as missing:
        skip_or_fail(f"pyseccomp or libseccomp: {missing}")
    assert set(NAMES_FILE.read_text().split()) == set(allowed())


def test_unknown_machine_is_refused() -> None:
    with pytest.raises(EnclosureError, match="no system call filter for riscv64"):
        profile("riscv64")
