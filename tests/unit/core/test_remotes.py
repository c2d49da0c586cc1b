"""Spellings of one remote."""

import pytest

from sekisho.core.remotes import remote_key


@pytest.mark.parametrize(
    "url",
    ["https://github.com/acme/app", "https://github.com/acme/app.git", "https://GitHub.com:443/acme/app.git/",
     "git@github.com:acme/app.git", "ssh://git@github.com/acme/app.git", "ssh://git@github.com:22/acme/app",
     "https://user:secret@github.com/acme/app.git", "github.com:acme/app", "git://github.com/acme/app.git"],
)  # fmt: skip
def test_spellings_of_one_remote(url: str) -> None:
    assert remote_key(url) == "github.com/acme/app"


@pytest.mark.parametrize(
    "url, key",
    [
        ("https://h:8443/r.git", "h:8443/r"),
        ("http://h/r.git", "http://h/r"),
        ("http://h:80/r", "http://h/r"),
        ("ssh://h:2222/r", "h:2222/r"),
        ("https://h/Acme/App", "h/Acme/App"),
        ("/srv/git/app.git", "/srv/git/app"),
        ("file:///srv/git/app.git", "/srv/git/app"),
        ("../app", "../app"),
    ],
)
def test_other_remotes(url: str, key: str) -> None:
    assert remote_key(url) == key


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/github.com/acme/app",
        "https://github.com@evil.example/acme/app",
        "https://github.com.evil.example/acme/app",
        "https://github.com/acme/app2",
    ],
)
def test_lookalike_is_another_remote(url: str) -> None:
    assert remote_key(url) != "github.com/acme/app"


@pytest.mark.parametrize("url", ["", "https://", "https://h", "https://h/", "h:", "file://"])
def test_what_names_no_repository_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="names no repository"):
        remote_key(url)
