"""Directly or through the corporate proxy of the environment, and never to where we would not go."""

import asyncio

import pytest

from netpolicy.proxy.resolver import NotDialled
from sekisho.sending.reaching import find

ENVIRON = {"HTTPS_PROXY": "http://p.corp:3128", "NO_PROXY": "localhost"}
PINNED = {"git.corp": "10.1.1.1:8443"}


def test_a_pinned_name_is_reached_directly() -> None:
    way = asyncio.run(find("git.corp", 443, PINNED, ENVIRON))
    assert (way.address, way.proxy) == (("10.1.1.1", 8443), None)


def test_a_name_that_only_the_proxy_knows_is_left_to_it() -> None:
    way = asyncio.run(find("nowhere.invalid", 443, PINNED, ENVIRON))
    assert way.address == ("nowhere.invalid", 443)
    assert way.proxy is not None
    assert way.proxy.host == "p.corp"


def test_a_proxy_of_another_kind_leads_nowhere() -> None:
    way = asyncio.run(find("1.1.1.1", 443, {}, {"ALL_PROXY": "socks5://p.corp:1"}))
    assert way.proxy is None


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "localhost"])
def test_what_is_not_public_is_not_asked_of_the_proxy(host: str) -> None:
    with pytest.raises(NotDialled):
        asyncio.run(find(host, 443, {}, ENVIRON))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_named_port_of_this_machine_is_dialled_there_without_any_proxy(host: str) -> None:
    way = asyncio.run(find(host, 8081, {}, {"HTTPS_PROXY": "http://p.corp:3128"}, {8081}))
    assert (way.address, way.proxy, way.own) == (("127.0.0.1", 8081), None, True)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("127.0.0.1", 8082),
        ("localhost", 80),
        ("127.0.0.2", 8081),
        ("::1", 8081),
        ("0.0.0.0", 8081),
        ("127.1", 8081),
        ("a.localhost", 8081),
        ("10.0.0.1", 8081),
    ],
)
def test_a_named_port_opens_nothing_else(host: str, port: int) -> None:
    with pytest.raises(NotDialled):
        asyncio.run(find(host, port, {}, {}, {8081}))
