"""The person's credentials are fetched outside, for the hosts and uses that the policy names."""

import asyncio
from pathlib import Path

import pytest

from sekisho.core.load import parse
from sekisho.core.policy import CredentialEntry, Policy
from sekisho.sending import credentials
from sekisho.sending.credentials import CredentialError

POLICY = """version = 1
[[network.credential]]
host = "api.test"
value = "env:READ_TOKEN"
use = "read"
[[network.credential]]
host = "*.test"
value = "env:WIDE_TOKEN"
use = "read"
[[network.credential]]
host = "write.test"
value = "env:WRITE_TOKEN"
"""


@pytest.fixture
def policy() -> Policy:
    return parse(POLICY, "p.toml")


def test_a_variable_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    assert credentials.fetch("env:SOME_TOKEN") == "secret"


@pytest.mark.parametrize("end", ["\\r\\n", "\\n", "\\r", "\\0"])
def test_a_secret_never_begins_another_header(end: str) -> None:
    with pytest.raises(CredentialError, match="more than one line"):
        credentials.fetch(f"cmd:printf 'abc{end}X-Injected: yes'")


def test_a_secret_that_is_no_text_is_an_error() -> None:
    with pytest.raises(CredentialError, match="UTF-8"):
        credentials.fetch("cmd:printf '\\377\\376'")


def test_a_command_is_run_without_a_shell() -> None:
    assert credentials.fetch("cmd:printf %s '$(id);x'") == "$(id);x"


@pytest.mark.parametrize(
    "secret", ["env:NOT_SET_ANYWHERE", "cmd:false", "cmd:no-such-program-here", "file:/etc/passwd"]
)
def test_what_cannot_be_fetched_is_an_error(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    with pytest.raises(CredentialError):
        credentials.fetch(secret)


def test_a_failing_commands_output_is_not_in_the_error() -> None:
    with pytest.raises(CredentialError) as raised:
        credentials.fetch("cmd:sh -c 'echo hunter2; echo hunter2 >&2; exit 3'")
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("host", "use", "value"),
    [
        ("api.test", ("read",), "env:READ_TOKEN"),
        ("other.test", ("read",), "env:WIDE_TOKEN"),
        ("write.test", ("approved",), "env:WRITE_TOKEN"),
        ("write.test", ("read",), "env:WIDE_TOKEN"),
        ("example.com", ("read", "approved"), None),
        ("api.test.example.com", ("read", "approved"), None),
    ],
)
def test_the_most_specific_entry_for_the_use_counts(
    policy: Policy, host: str, use: tuple[str, ...], value: str | None
) -> None:
    found = credentials.entry_for(policy, credentials.Place("https", host, 443), use=use)
    assert (found.value if found else None) == value


@pytest.mark.parametrize("pattern", ["localhost:8080", "127.0.0.1:8080"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_port_of_ones_own_machine_goes_by_either_name(pattern: str, host: str) -> None:
    assert credentials.may_go(pattern, credentials.Place("http", host, 8080))
    assert not credentials.may_go(pattern, credentials.Place("http", host, 8081))
    assert not credentials.may_go(pattern, credentials.Place("http", "localhost.example", 8080))


@pytest.mark.parametrize(
    ("scheme", "user", "header"),
    [
        ("bearer", None, "Bearer s"),
        ("token", None, "Token s"),
        ("none", None, "s"),
        ("basic", "kim", "Basic a2ltOnM="),
    ],
)
def test_each_scheme_has_its_header(
    monkeypatch: pytest.MonkeyPatch, scheme: str, user: str | None, header: str
) -> None:
    monkeypatch.setenv("S", "s")
    text = f'version = 1\n[[network.credential]]\nhost = "a.test"\nvalue = "env:S"\nscheme = "{scheme}"\n'
    entry: CredentialEntry = parse(text + (f'user = "{user}"\n' if user else ""), "p").network.credential[0]
    assert credentials.header_of(entry) == ("Authorization", header)


def test_a_command_is_asked_once_for_reads_that_come_together(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    entry = _entry(f"cmd:sh -c 'echo x >>{asked}; echo told'")
    clock = iter([0.0] * 5 + [credentials.KEPT - 1, credentials.KEPT + 1])
    secrets = credentials.Secrets(lambda: next(clock))

    async def together() -> None:
        await asyncio.gather(secrets.ask(entry), secrets.ask(entry))

    assert secrets.awaited(entry)
    asyncio.run(together())
    assert secrets.header(entry) == ("Authorization", "Bearer told")
    assert asked.read_text() == "x\n"
    assert not secrets.awaited(entry)
    assert not secrets.awaited(entry)
    assert secrets.awaited(entry)


def test_a_failure_is_kept_as_long_as_an_answer() -> None:
    entry, secrets = _entry("cmd:false"), credentials.Secrets()
    asyncio.run(secrets.ask(entry))
    assert not secrets.awaited(entry)
    with pytest.raises(CredentialError, match="status 1"):
        secrets.header(entry)


def test_a_variable_needs_no_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S", "s")
    entry, secrets = _entry("env:S"), credentials.Secrets()
    assert not secrets.awaited(entry)
    assert secrets.header(entry) == ("Authorization", "Bearer s")


def _entry(value: str) -> CredentialEntry:
    return CredentialEntry(host="a.test", value=value, use="read")


def test_where_a_person_is_told_of_holds_is_a_secret_that_must_not_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHAT_URL", "slack://token-1234567890/chat")
    policy = parse(
        'version = 1\n[approval]\nnotify = ["ntfy://my-topic-of-many-words", "env:CHAT_URL"]\n', "p"
    )
    assert credentials.known_secrets(policy) == ("slack://token-1234567890/chat",)
