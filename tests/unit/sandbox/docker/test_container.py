"""Whether a container's network leads anywhere, by what the kernel says of it."""

from pathlib import Path

import pytest

from sandbox.docker.container import routed

HEAD = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
BY_ETH0 = "eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
ZERO = "0" * 32
BY_LO_6 = f"{ZERO} 00 {ZERO} 00 {ZERO} ffffffff 00000001 00000000 00200200       lo\n"
BY_ETH1_6 = f"fe80{'0' * 28} 40 {ZERO} 00 {ZERO} 00000100 00000001 00000000 00000001     eth1\n"


@pytest.mark.parametrize(
    ("route", "ipv6", "devices"),
    [
        (HEAD, BY_LO_6, []),
        (HEAD, None, []),
        (HEAD + BY_ETH0, BY_LO_6, ["eth0"]),
        (HEAD, BY_LO_6 + BY_ETH1_6, ["eth1"]),
        (HEAD + BY_ETH0, BY_ETH1_6, ["eth0", "eth1"]),
    ],
)
def test_devices_with_routes_are_named(
    tmp_path: Path, route: str, ipv6: str | None, devices: list[str]
) -> None:
    (tmp_path / "route").write_text(route)
    if ipv6 is not None:
        (tmp_path / "ipv6_route").write_text(ipv6)
    assert routed(tmp_path) == devices


def test_what_cannot_be_read_counts_as_a_network(tmp_path: Path) -> None:
    (found,) = routed(tmp_path)
    assert "No such file" in found
