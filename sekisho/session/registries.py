"""The hosts of the person's package indexes, from what their tools are configured with.

Read from files and the environment; no tool is run, and nothing of the project counts: a repository
must not say which hosts are trusted to be an index. Where nothing is configured, the tool's own default
is read from the tool. A host gets a profile (which of its POSTs are reads), never a right.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from sekisho.session import registry_formats as formats

LARGEST = 1 << 20  # bytes of a file that are looked at
Reader = Callable[[str], list[str]]


def profiles(home: Path, environment: Mapping[str, str], root: Path = Path("/")) -> dict[str, str]:
    """Host (or `host:port`) -> profile name, for `netpolicy.world.of_policy`; never raises."""
    found: dict[str, str] = {}
    for profile, url in _all(home, environment, root):
        if (host := formats.host_of(url)) is not None:
            found.setdefault(host, profile)
    return found


def _all(home: Path, environment: Mapping[str, str], root: Path) -> Iterator[tuple[str, str]]:
    for profile, paths, reader in _sources(home, environment, root):
        for path in paths:
            if text := _text(path):
                yield from ((profile, url) for url in reader(text))
    for profile, names in _VARIABLES.items():
        for name, value in environment.items():
            if _named(name, names):
                yield from ((profile, url) for url in formats.urls(value))
    yield from (("npm", url) for url in _npm_default(environment))
    yield from (("python-index", url) for url in _pip_default(environment, root))


_VARIABLES = {
    "python-index": (
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "UV_INDEX_URL",
        "UV_EXTRA_INDEX_URL",
        "UV_DEFAULT_INDEX",
        "UV_INDEX",
    ),
    "npm": ("NPM_CONFIG_REGISTRY", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER"),
    "cargo-registry": ("CARGO_REGISTRIES_*_INDEX",),
    "go-proxy": ("GOPROXY", "GOSUMDB"),
}


def _named(name: str, names: Iterable[str]) -> bool:
    """npm reads its variables in any case; so does this for all."""
    upper = name.upper()
    for wanted in names:
        head, star, tail = wanted.partition("*")
        if upper == wanted or (star and upper.startswith(head) and upper.endswith(tail)):
            return True
    return False


def _sources(
    home: Path, environment: Mapping[str, str], root: Path
) -> Iterator[tuple[str, Iterable[Path], Reader]]:
    etc, config = root / "etc", Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    named = {name.upper(): Path(value) for name, value in environment.items() if value.startswith("/")}
    pip = [etc / "pip.conf", etc / "xdg/pip/pip.conf", config / "pip/pip.conf", home / ".pip/pip.conf"]
    yield "python-index", [*pip, *_given(named, "PIP_CONFIG_FILE")], formats.pip
    yield (
        "python-index",
        [etc / "uv/uv.toml", config / "uv/uv.toml", *_given(named, "UV_CONFIG_FILE")],
        formats.uv,
    )
    npmrc = [home / ".npmrc", etc / "npmrc", root / "usr/etc/npmrc", root / "usr/local/etc/npmrc"]
    yield "npm", [*npmrc, *_given(named, "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG")], formats.npm
    yield "npm", [home / ".yarnrc", home / ".yarnrc.yml"], formats.yarn
    apt = _sorted(etc / "apt/sources.list.d", "*.list", "*.sources")
    yield "debian-archive", [etc / "apt/sources.list", *apt], formats.apt
    cargo = named.get("CARGO_HOME", home / ".cargo")
    yield "cargo-registry", [cargo / "config.toml", cargo / "config"], formats.cargo
    yield "maven", [home / ".m2/settings.xml", etc / "maven/settings.xml"], formats.maven
    yield "go-proxy", [config / "go/env", *_given(named, "GOENV")], formats.go
    yield "oci-registry", [etc / "docker/daemon.json", config / "docker/daemon.json"], formats.docker


def _given(named: Mapping[str, Path], *variables: str) -> list[Path]:
    return [named[variable] for variable in variables if variable in named]


def _sorted(folder: Path, *patterns: str) -> list[Path]:
    try:
        return sorted(path for pattern in patterns for path in folder.glob(pattern))
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""


def _npm_default(environment: Mapping[str, str]) -> list[str]:
    """The registry that npm has built in, from npm's own definitions."""
    program = _program("npm", environment)  # …/npm/bin/npm-cli.js
    if program is None:
        return []
    text = _text(program.parent.parent / "node_modules/@npmcli/config/lib/definitions/definitions.js")
    _, _, after = text.partition("'registry', {")
    return formats.urls(after[:400])[:1]


def _pip_default(environment: Mapping[str, str], root: Path) -> list[str]:
    """The index that pip has built in, from the source of the first pip that is found."""
    folders = [root / "usr/lib/python3/dist-packages"]
    if (program := _program("pip", environment)) is not None:
        folders = [*_sorted(program.parent.parent / "lib", "python3*/site-packages"), *folders]
    for folder in folders:
        _, found, after = _text(folder / "pip/_internal/models/index.py").partition("PyPI = PackageIndex(")
        if found:
            return formats.urls(after[:200])[:1]
    return []


def _program(name: str, environment: Mapping[str, str]) -> Path | None:
    found = shutil.which(name, path=environment.get("PATH", ""))
    return None if found is None else Path(found).resolve()
