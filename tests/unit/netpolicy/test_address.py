import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.address import is_loopback, is_loopback_host, is_public, parse_literal


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("8.8.8.8", "8.8.8.8"),
        ("8.8.8.8.", "8.8.8.8"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("127.000.000.001", "127.0.0.1"),
        ("169.254.43518", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("[::ffff:a9fe:a9fe]", "169.254.169.254"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("example.test", None),
        ("1.2.3.4.example", None),
        ("0xexample", None),
        ("a.0x7g", None),
    ],
)
def test_a_host_is_read_as_clients_dial_it(host: str, address: str | None) -> None:
    assert parse_literal(host) == address


@pytest.mark.parametrize(
    "host",
    [
        "256.1.1.1",
        "1.2.3.4.5",
        "1.2.3.65536",
        "4294967296",
        "foo.1",
        "08",
        "[::1",
        "[fe80::1%25eth0]",
        "fe80::1%eth0",
    ],
)
def test_what_only_looks_like_an_address_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_literal(host)


@pytest.mark.parametrize(
    "ip",
    [
        *("10.0.0.1", "172.16.0.1", "192.168.1.1", "127.0.0.1", "0.0.0.0", "169.254.169.254", "100.64.0.1"),
        *("100.100.100.200", "198.18.0.1", "198.19.255.255", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1", "168.63.129.16", "192.88.99.1"),
        *(
            "::",
            "::1",
            "fe80::1",
            "fe80::1%eth0",
            "fc00::1",
            "fd00:ec2::254",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
        ),
        *("::ffff:10.0.0.8", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:0a00:0001::1"),
        *("2001:0:4136:e378:8000:63bf:3fff:fdd2", "::7f00:1", "100::1", "3fff::1", "5f00::1", "nonsense", ""),
    ],
)
def test_special_addresses_are_not_public(ip: str) -> None:
    assert not is_public(ip)


@pytest.mark.parametrize(
    "ip",
    [
        "8.8.8.8",
        "93.184.216.34",
        "1.1.1.1",
        "2606:4700::1111",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "::ffff:8.8.8.8",
    ],
)
def test_ordinary_addresses_are_public(ip: str) -> None:
    assert is_public(ip)


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("0.0.0.0", True),
        ("[::]", True),
        ("127.1", False),
        ("0x7f000001", False),
        ("127.000.000.001", False),
        ("[::ffff:127.0.0.1]", False),
        ("localhost.example", False),
        ("notlocalhost", False),
        ("127.0.0.1.example", False),
        ("10.0.0.1", False),
    ],
)
def test_only_plain_spellings_of_loopback_are_local(name: str, local: bool) -> None:
    assert is_loopback_host(name) is local


def test_unspecified_reaches_the_machine_itself() -> None:
    assert is_loopback("0.0.0.0")
    assert is_loopback("::")
    assert not is_loopback("8.8.8.8")
    assert not is_loopback("x")


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_every_spelling_of_an_address_is_the_same_address(value: int) -> None:
    quad = value.to_bytes(4)
    plain = ".".join(str(part) for part in quad)
    spellings = [
        str(value),
        hex(value),
        "0" + oct(value)[2:],
        ".".join(hex(p) for p in quad),
        f"::ffff:{plain}",
    ]
    assert {parse_literal(text) for text in spellings} == {plain}


@given(st.text(max_size=30))
def test_any_text_is_a_name_an_address_or_refused(host: str) -> None:
    try:
        address = parse_literal(host)
    except ValueError:
        return
    if address is not None:
        is_public(address)
