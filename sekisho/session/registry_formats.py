"""The URLs of package indexes in the configuration files of package tools. Pure; what is malformed has none.

Formats: pip's `pip.conf`, uv's `uv.toml`, npm's `.npmrc`, yarn's `.yarnrc` and `.yarnrc.yml`, apt's
one-line and deb822 sources, cargo's `config.toml`, Maven's `settings.xml`, Go's `env` file, Docker's
`daemon.json`.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

_URL = re.compile(r"https?://[^\s'\"<>,|]+", re.IGNORECASE)
_NPM = re.compile(r"^\s*(?:@[^\s=:]+:)?registry\s*=\s*[\"']?(\S+?)[\"']?\s*$", re.MULTILINE)
_YARN = re.compile(
    r"^\s*[\"']?(?:@[^\s:]+:)?(?:registry|npmRegistryServer)[\"']?[:\s]\s*[\"']?(https?://[^\s\"']+)",
    re.MULTILINE,
)
_APT_LINE = re.compile(r"^\s*deb(?:-src)?\s+(?:\[[^\]\n]*\]\s+)?(\S+)", re.MULTILINE)
_APT_URIS = re.compile(r"^URIs:(.*(?:\n[ \t].*)*)", re.MULTILINE | re.IGNORECASE)
_MAVEN = re.compile(r"<url>\s*(https?://[^<\s]+)\s*</url>", re.IGNORECASE)
_XML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_GO = re.compile(r"^\s*(?:GOPROXY|GOSUMDB)\s*=\s*(.*)$", re.MULTILINE)


def urls(text: str) -> list[str]:
    """Every http and https address in a text."""
    return _URL.findall(text)


def host_of(url: str) -> str | None:
    """`host`, or `host:port` where the port is not the scheme's own; never the user information."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    return host if port in (None, {"http": 80, "https": 443}[parts.scheme]) else f"{host}:{port}"


def pip(text: str) -> list[str]:
    import configparser  # these parsers are loaded where there is something to read

    parser = configparser.RawConfigParser(strict=False)
    with suppress(configparser.Error):
        parser.read_string(text)
    keys = ("index-url", "extra-index-url", "index", "index_url", "extra_index_url")
    return [
        url
        for section in parser.values()
        for key in keys
        if key in section
        for url in urls(section[key] or "")
    ]


def _toml(text: str) -> dict[str, Any]:
    import tomllib

    with suppress(tomllib.TOMLDecodeError):
        return tomllib.loads(text)
    return {}


def _texts(value: Any, *keys: str) -> Iterator[str]:
    """The strings under `keys`, anywhere in a table."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _plain(inner) if key in keys else _texts(inner, *keys)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, *keys)


def _plain(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _plain(inner) if not isinstance(inner, dict) else _texts(inner, "url")
    elif isinstance(value, dict):
        yield from _texts(value, "url")


def uv(text: str) -> list[str]:
    return list(_texts(_toml(text), "index", "index-url", "extra-index-url", "default-index"))


def npm(text: str) -> list[str]:
    return [match for match in _NPM.findall(text) if "${" not in match]


def yarn(text: str) -> list[str]:
    return _YARN.findall(text)


def apt(text: str) -> list[str]:
    return [*_APT_LINE.findall(text), *(url for block in _APT_URIS.findall(text) for url in block.split())]


def cargo(text: str) -> list[str]:
    return [url.removeprefix("sparse+") for url in _texts(_toml(text), "index", "registry")]


def maven(text: str) -> list[str]:
    return _MAVEN.findall(_XML_COMMENT.sub("", text))


def go(text: str) -> list[str]:
    return [url for value in _GO.findall(text) for url in urls(value)]


def docker(text: str) -> list[str]:
    with suppress(ValueError):
        return list(_texts(json.loads(text), "registry-mirrors"))
    return []
