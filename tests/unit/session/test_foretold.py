"""What a person is told at the start: only what will really fail, with the way on."""

import pytest

from sekisho.core.load import parse
from sekisho.session.foretold import foretold
from sekisho.session.person import BY_PATH, BY_SSH, CutOff

POLICY = """version = 1
[[network.model]]
provider = "anthropic"
key = "env:A_KEY"

[[network.model]]
provider = "openai"
key = "cmd:pass openai"

[[network.credential]]
host = "api.test"
value = "env:READ"
use = "read"

[[network.credential]]
host = "other.test"
value = "env:APPROVED"
"""


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({}, ["A_KEY", "READ"]),
        ({"A_KEY": "x"}, ["READ"]),
        ({"A_KEY": "", "READ": "y"}, []),
    ],
)
def test_variables_that_calls_will_miss(environ: dict[str, str], missing: list[str]) -> None:
    said = foretold(parse(POLICY, "sekisho.toml").network, environ, ())
    assert [name in line for name, line in zip(missing, said, strict=True)] == [True] * len(missing)


@pytest.mark.parametrize(
    ("url", "https"),
    [
        ("git@github.com:acme/app.git", "https://github.com/acme/app.git"),
        ("ssh://git@forge.test:2222/acme/app", "https://forge.test/acme/app"),
        ("host:", "https://HOST/PATH"),
    ],
)
def test_a_remote_by_ssh_is_told_with_its_https_url(url: str, https: str) -> None:
    (line,) = foretold(parse("version = 1", "sekisho.toml").network, {}, [CutOff("origin", url, BY_SSH)])
    assert line.endswith(f"git remote set-url origin {https}")


def test_a_remote_by_path_is_told_with_another_way() -> None:
    (line,) = foretold(parse("version = 1", "x").network, {}, [CutOff("origin", "/srv/x.git", BY_PATH)])
    assert "a path on this machine" in line
    assert "set-url" not in line


def test_a_model_on_a_port_of_ones_own_needs_no_key() -> None:
    text = """version = 1
[[network.local]]
port = 11434
[[network.model]]
provider = "ollama"
key = "env:OLLAMA_API_KEY"
host = "localhost:11434"
"""
    assert foretold(parse(text, "sekisho.toml").network, {}, ()) == ()
