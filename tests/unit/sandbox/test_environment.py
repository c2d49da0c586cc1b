"""What comes along from the person's environment, and what tools are told."""

import subprocess

import pytest

from sandbox.environment import Person, Trust, environment, gitconfig, helper_mounts
from tests.support.needs import needs

OUTER = {
    "TERM": "xterm-kitty",
    "LC_ALL": "de_DE.UTF-8",
    "LANG": "de_DE.UTF-8",
    "TZ": "Europe/Berlin",
    "HOME": "/home/alice",
    "PATH": "/evil",
    "SSH_AUTH_SOCK": "/tmp/ssh",
    "GITHUB_TOKEN": "ghp_x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "LD_PRELOAD": "/tmp/x.so",
    "PYTHONPATH": "/tmp",
    "GIT_DIR": "/x",
    "BASH_ENV": "/tmp/x",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
    "HTTPS_PROXY": "http://corp:3128",
    "LC": "x",
}
TRUST = Trust(bundle="/run/sekisho/ca.pem", java="/run/sekisho/java.p12", wgetrc="/run/sekisho/wgetrc")


def made(*, terminal: bool = False, trust: Trust | None = TRUST) -> dict[str, str]:
    return environment(OUTER, home="/home/agent", path="/usr/bin", terminal=terminal, trust=trust)


def test_only_listed_names_come_along() -> None:
    inside = made(terminal=True)
    kept = {name for name, value in OUTER.items() if inside.get(name) == value}
    assert kept == {"TERM", "LC_ALL", "LANG", "TZ"}
    assert not {"GITHUB_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD", "BASH_ENV", "GIT_DIR"} & set(inside)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "YARN_HTTPS_PROXY"])
def test_proxy_is_ours_in_both_cases(name: str) -> None:
    assert made()[name] == "http://127.0.0.1:3128"


def test_no_proxy_is_exactly_what_every_client_parses() -> None:
    assert {made()["NO_PROXY"], made()["no_proxy"]} == {"localhost,127.0.0.1,::1"}


@pytest.mark.parametrize(
    "name",
    ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "DENO_CERT",
     "npm_config_cafile", "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE",
     "YARN_HTTPS_CA_FILE_PATH", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE"],
)  # fmt: skip
def test_every_client_is_told_the_bundle(name: str) -> None:
    assert made()[name] == TRUST.bundle


def test_java_gets_proxy_and_store() -> None:
    options = made()["JAVA_TOOL_OPTIONS"].split()
    assert "-Dhttps.proxyPort=3128" in options
    assert f"-Djavax.net.ssl.trustStore={TRUST.java}" in options


def test_without_a_network_nothing_points_at_a_proxy() -> None:
    assert not {name for name in made(trust=None) if "proxy" in name.lower() or "cert" in name.lower()}


def test_without_a_terminal_nothing_can_ask() -> None:
    inside = made(terminal=False)
    assert inside["GIT_EDITOR"] == inside["EDITOR"] == "/run/sekisho/no-editor"
    assert inside["TERM"] == "dumb"
    assert "GIT_EDITOR" not in made(terminal=True)
    assert made(terminal=True)["GIT_TERMINAL_PROMPT"] == "0"


def test_extra_lies_on_top() -> None:
    inside = environment(
        {}, home="/h", path="/p", terminal=True, extra={"TERM": "vt100", "SEKISHO_SESSION": "s1"}
    )
    assert (inside["TERM"], inside["SEKISHO_SESSION"]) == ("vt100", "s1")


@needs("git")
@pytest.mark.parametrize(
    "name", ["Ada", 'A "B" \\ C', "x\n[core]\n\tsshCommand = evil", "a # b ; c", " pad "]
)
def test_gitconfig_says_just_the_name(name: str) -> None:
    config = gitconfig(Person(name=name, email="a@b"), "/work/it's", (("https://h/", "git@h:"),))
    listed = subprocess.run(
        ["git", "config", "--file", "-", "--null", "--list"], input=config, capture_output=True, check=True
    )
    entries = [entry.partition(b"\n") for entry in listed.stdout.rstrip(b"\0").split(b"\0")]
    assert {key.decode(): value.decode() for key, _, value in entries} == {
        "user.name": name,
        "user.email": "a@b",
        "safe.directory": "/work/it's",
        "url.https://h/.insteadof": "git@h:",
    }


def test_helpers_are_where_the_variables_point() -> None:
    targets = {mount.target for mount in helper_mounts(Person(), "/w")}
    inside = made()
    assert {
        inside["GIT_EDITOR"],
        inside["GIT_ASKPASS"],
        inside["XDG_RUNTIME_DIR"],
        "/etc/gitconfig",
    } <= targets
