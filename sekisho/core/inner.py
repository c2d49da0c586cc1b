"""Hosts that no request from inside may reach, by the code that says so. Pure."""

# Each gives credentials of the machine it runs on to whoever asks.
METADATA = frozenset(
    (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "fd00:ec2::254",
        "168.63.129.16",
        "100.100.100.200",
        "metadata.google.internal",
        "instance-data",
        "metadata",
    )
)


def inner_code(host: str) -> str:
    """The code for a host that is not public: a name in lower case, or an address in its usual spelling."""
    return "metadata-service" if host in METADATA else "private-address"
