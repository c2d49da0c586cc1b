"""The attacks on files and kernel of the embedded sandbox, in a container, with the same outcome.

Also as root inside, which is who a person is that works as root.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.docker import lab
from tests.escape.test_enclosure_files import (
    test_host_unix_socket_is_out_of_reach_by_path,
    test_launchers_environment_and_descriptors_do_not_leak,
    test_no_file_of_the_kernel_is_writable,
    test_nothing_outside_the_private_folders_can_be_written,
    test_only_harmless_devices_exist,
    test_private_folders_are_bounded,
)
from tests.escape.test_enclosure_kernel import (
    test_every_refused_call_is_refused,
    test_nested_sandbox_cannot_be_made,
    test_no_capability_is_left_and_none_can_be_gained,
)
from tests.unit.sandbox import lab as embedded

pytestmark = lab.marks
BECOME_ROOT = "call(105, 0)"


@pytest.fixture(params=[lab.UID, 0])
def as_user(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """What the attacks are launched with: here the same one, in a container."""
    uid = request.param
    tools = request.node.originalname == "test_nested_sandbox_cannot_be_made"
    replaced = {
        embedded.attack: partial(lab.attack, uid=uid, tools=tools),
        embedded.attack_with_leaks: partial(lab.attack_with_leaks, uid=uid),
    }

    def call(function: Callable[..., Any], source: str, *rest: object) -> Any:
        if uid == 0:  # it is root, without any capability
            source = source.replace(BECOME_ROOT, "print('held: E')")
        return replaced[function](source, *rest)

    return call


HIDDEN = """
import os
for path in ("/sys", "/boot", "/mnt", "/srv", "/opt", "/home", "/tmp", "/run/docker.sock",
             "/var/run/docker.sock", "/run/dbus", "/run/containerd", "/etc/ssh", "/var/lib/docker", "/work"):
    if os.path.lexists(path): print(path, sorted(os.listdir(path)) if os.path.isdir(path) else "file")
for name in ("id_rsa", ".ssh", ".aws", ".bash_history"):
    for home in ("/root", "/home/agent"):
        if os.path.lexists(f"{home}/{name}"): print("ESCAPED", name)
print(sorted(os.listdir("/.sekisho")))
"""


def test_home_host_sockets_and_secrets_do_not_exist() -> None:
    status, output = lab.attack(HIDDEN)
    empty = ("/sys", "/boot", "/mnt", "/srv", "/opt", "/tmp")
    expected = [f"{path} []" for path in empty] + ["/home ['agent']", "['go', 'proof']"]
    assert (status, sorted(str(output).splitlines())) == (0, sorted(expected))


PROCESSES = """
import os
print([open(f"/proc/{p}/comm").read().strip() for p in os.listdir("/proc") if p.isdigit()])
for pid in (300, 5000):
    try: os.kill(pid, 0); print("ESCAPED", pid)
    except ProcessLookupError: pass
"""


def test_processes_outside_cannot_be_seen_or_signalled() -> None:
    assert lab.attack(PROCESSES) == [0, "['docker-init', 'python3']\n"]


__all__ = [
    "as_user",
    "test_every_refused_call_is_refused",
    "test_host_unix_socket_is_out_of_reach_by_path",
    "test_launchers_environment_and_descriptors_do_not_leak",
    "test_nested_sandbox_cannot_be_made",
    "test_no_capability_is_left_and_none_can_be_gained",
    "test_no_file_of_the_kernel_is_writable",
    "test_nothing_outside_the_private_folders_can_be_written",
    "test_only_harmless_devices_exist",
    "test_private_folders_are_bounded",
]
