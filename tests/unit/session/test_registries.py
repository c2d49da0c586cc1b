"""The person's package indexes, from the files and variables of their tools."""

from pathlib import Path

import pytest

from netpolicy.world import World
from sekisho.core.policy import BUILTIN
from sekisho.session.registries import profiles
from sekisho.session.registry_formats import host_of

FILES = {
    "home/.config/pip/pip.conf": (
        (
            "[global]\nindex-url = https://me:secret@pip.corp.test/simple\n"
            "[install]\nextra-index-url =\n    https://pip2.corp.test:8443/simple\n    https://pip3.corp.test/\n"
        ),
        {
            "pip.corp.test": "python-index",
            "pip2.corp.test:8443": "python-index",
            "pip3.corp.test": "python-index",
        },
    ),
    "home/.config/uv/uv.toml": (
        '[[index]]\nname = "a"\nurl = "https://uv.corp.test/simple"\n[pip]\nindex-url = "https://uv2.corp.test"\n',
        {"uv.corp.test": "python-index", "uv2.corp.test": "python-index"},
    ),
    "home/.npmrc": (
        (
            "registry=https://npm.corp.test/\n@acme:registry = http://npm2.corp.test:4873/\n"
            "//npm.corp.test/:_authToken=x\n; registry=https://no.corp.test\n"
        ),
        {"npm.corp.test": "npm", "npm2.corp.test:4873": "npm"},
    ),
    "home/.yarnrc.yml": ('npmRegistryServer: "https://yarn.corp.test"\n', {"yarn.corp.test": "npm"}),
    "etc/apt/sources.list": (
        "# deb http://no.corp.test x main\ndeb [signed-by=/k] http://deb.corp.test/debian stable main\n",
        {"deb.corp.test": "debian-archive"},
    ),
    "etc/apt/sources.list.d/a.sources": (
        "Types: deb\nURIs: http://deb2.corp.test/debian\n http://deb3.corp.test/debian\nSuites: stable\n",
        {"deb2.corp.test": "debian-archive", "deb3.corp.test": "debian-archive"},
    ),
    "home/.cargo/config.toml": (
        '[registries.corp]\nindex = "sparse+https://crates.corp.test/"\n[source.m]\nregistry = "https://c2.corp.test"\n',
        {"crates.corp.test": "cargo-registry", "c2.corp.test": "cargo-registry"},
    ),
    "home/.m2/settings.xml": (
        (
            "<settings><!-- <url>https://no.corp.test</url> --><mirrors><mirror>"
            "<url> https://mvn.corp.test/m2 </url>"
            "</mirror></mirrors></settings>"
        ),
        {"mvn.corp.test": "maven"},
    ),
    "home/.config/go/env": ("GOPROXY=https://go.corp.test,direct\n", {"go.corp.test": "go-proxy"}),
    "etc/docker/daemon.json": (
        '{"registry-mirrors": ["https://oci.corp.test"]}',
        {"oci.corp.test": "oci-registry"},
    ),
}


def _place(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("name", FILES)
def test_what_a_tool_is_configured_with_is_found(tmp_path: Path, name: str) -> None:
    text, expected = FILES[name]
    _place(tmp_path, name, text)
    assert profiles(tmp_path / "home", {}, tmp_path) == expected


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("text", ["\x00\xff[[[", "{" * 4000, "[a\nb=<", "registry=\n"])
def test_a_damaged_file_configures_nothing(tmp_path: Path, name: str, text: str) -> None:
    _place(tmp_path, name, text)
    assert profiles(tmp_path / "home", {}, tmp_path) == {}


def test_variables_count_in_any_case(tmp_path: Path) -> None:
    environment = {
        "npm_config_registry": "https://npm.corp.test",
        "PIP_EXTRA_INDEX_URL": "https://a.corp.test https://b.corp.test",
        "CARGO_REGISTRIES_CORP_INDEX": "sparse+https://crates.corp.test/",
        "GOPROXY": "https://go.corp.test|direct",
        "OTHER_URL": "https://no.corp.test",
    }
    assert profiles(tmp_path, environment, tmp_path) == {
        "npm.corp.test": "npm",
        "a.corp.test": "python-index",
        "b.corp.test": "python-index",
        "crates.corp.test": "cargo-registry",
        "go.corp.test": "go-proxy",
    }


def test_a_file_that_a_variable_names_is_read(tmp_path: Path) -> None:
    _place(tmp_path, "elsewhere/npmrc", "registry=https://npm.corp.test\n")
    environment = {"NPM_CONFIG_USERCONFIG": str(tmp_path / "elsewhere/npmrc")}
    assert profiles(tmp_path / "home", environment, tmp_path) == {"npm.corp.test": "npm"}


def test_the_tools_own_defaults_are_read_from_the_tools(tmp_path: Path) -> None:
    definitions = "npm/node_modules/@npmcli/config/lib/definitions/definitions.js"
    _place(
        tmp_path,
        definitions,
        "  registry: new Definition('registry', {\n    default: 'https://npm-default.test/',\n",
    )
    _place(tmp_path, "npm/bin/npm-cli.js", "")
    (tmp_path / "bin").mkdir()
    (tmp_path / "npm/bin/npm-cli.js").chmod(0o755)
    (tmp_path / "bin/npm").symlink_to(tmp_path / "npm/bin/npm-cli.js")
    pip = "usr/lib/python3/dist-packages/pip/_internal/models/index.py"
    _place(tmp_path, pip, 'PyPI = PackageIndex("https://pip-default.test/")\n')
    assert profiles(tmp_path, {"PATH": str(tmp_path / "bin")}, tmp_path) == {
        "npm-default.test": "npm",
        "pip-default.test": "python-index",
    }


def test_a_repository_cannot_name_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _place(tmp_path, "project/.npmrc", "registry=https://evil.test\n")
    monkeypatch.chdir(tmp_path / "project")
    assert profiles(tmp_path / "home", {"PWD": str(tmp_path / "project")}, tmp_path) == {}


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://a.test/x", "a.test"),
        ("http://a.test:80", "a.test"),
        ("https://u:p@a.test:8443", "a.test:8443"),
        ("file:///x", None),
        ("https://a.test:no/", None),
        ("https://[::1", None),
    ],
)
def test_a_host_is_told_without_its_login(url: str, host: str | None) -> None:
    assert host_of(url) == host


def test_a_profile_of_another_port_is_found() -> None:
    world = World(policy=BUILTIN, profiles={"npm2.corp.test:4873": "npm"})
    assert world.profile("npm2.corp.test", 4873) == "npm"
    assert world.profile("npm2.corp.test", 443) is None
