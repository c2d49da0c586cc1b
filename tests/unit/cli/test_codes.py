"""The same reason has the same code, whether a request or a command is asked about."""

import pytest

from sekisho.cli.explaining import explain
from sekisho.core.load import parse
from sekisho.core.merge import merge
from sekisho.core.policy import BUILTIN
from sekisho.core.verdict import Decision


def asked(row: dict[str, object]) -> Decision:
    return explain(row, BUILTIN, "sandbox", None).decision


@pytest.mark.parametrize(
    ("method", "url", "code"),
    [
        ("GET", "http://10.0.0.1/", "private-address"),
        ("GET", "http://192.168.1.1/admin", "private-address"),
        ("GET", "http://169.254.169.254/", "metadata-service"),
        ("GET", "http://metadata.google.internal/", "metadata-service"),
        ("GET", "http://[fd00:ec2::254]/", "metadata-service"),
        ("POST", "https://api.example/x", "held-write"),
        ("DELETE", "https://api.example/x", "held-write"),
    ],
)
@pytest.mark.parametrize(
    "client",
    [("curl", "-g", "-X", "{method}", "{url}"), ("wget", "--method={method}", "{url}")],
    ids=["curl", "wget"],
)
def test_a_command_and_its_request_have_one_code(
    client: tuple[str, ...], method: str, url: str, code: str
) -> None:
    command = asked({"argv": [word.format(method=method, url=url) for word in client]})
    request = asked({"method": method, "url": url})
    assert (command.code, command.verdict) == (code, request.verdict)
    assert request.code == code


@pytest.mark.parametrize("host", ["10.0.0.1", "host.docker.internal", "Metadata."])
def test_a_pinned_host_is_open_to_commands_as_it_is_to_requests(host: str) -> None:
    pins = ", ".join(f'"{name}" = "127.0.0.1:9"' for name in ("10.0.0.1", "host.docker.internal", "metadata"))
    pinned = merge(None, parse(f"version = 1\n[network]\nresolve = {{ {pins} }}\n", "sekisho.toml"))
    row = {"argv": ["curl", f"http://{host}/"]}
    assert explain(row, BUILTIN, "sandbox", None).decision.verdict == "deny"
    assert explain(row, pinned, "sandbox", None).decision.verdict == "allow"
