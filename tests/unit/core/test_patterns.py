"""Patterns and their order."""

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekisho.core import patterns


@pytest.mark.parametrize(
    "pattern, host, port, matches",
    [
        ("api.example.com", "api.example.com", 443, True),
        ("api.example.com", "API.example.com.", 443, True),
        ("api.example.com", "api.example.com.evil.org", 443, False),
        ("*.example.com", "a.b.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "evilexample.com", 443, False),
        ("*", "anything.at.all", 443, True),
        ("*", "", 443, False),
        ("cdn-lfs*.hf.co", "cdn-lfs-us-1.hf.co", 443, True),
        ("cdn-lfs*.hf.co", "cdn-lfs.evil.hf.co", 443, False),
        ("a.*.example.com", "a.b.example.com", 443, True),
        ("a.*.example.com", "a.b.c.example.com", 443, False),
        ("localhost:3000", "localhost", 3000, True),
        ("localhost:3000", "localhost", 3001, False),
        ("localhost:3000", "localhost", None, False),
        ("[::1]:80", "::1", 80, True),
        ("10.0.0.1", "10.0.0.1", 80, True),
    ],
)
def test_host(pattern: str, host: str, port: int | None, matches: bool) -> None:
    assert patterns.host_matches(patterns.check_host(pattern), host, port) is matches


@pytest.mark.parametrize(
    "text",
    ["", "https://a.example", "a b", "a..b", "-a.example", "ex\u0430mple.com", "u@h", "h/p", "a:99999", "a:0",
     "a:", "300.1.2.3", "1.2.3", "::zz", "a" * 64, "[::1]x", "2130706433"],
)  # fmt: skip
def test_bad_host_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|port|address|ASCII|colon"):
        patterns.check_host(text)


@pytest.mark.parametrize(
    "pattern, path, matches",
    [
        ("/v1/render", "/v1/render", True),
        ("/v1/render", "/v1/render?x=1", True),
        ("/v1/render", "/v1/render/", False),
        ("/v1/*", "/v1/a", True),
        ("/v1/*", "/v1/a/b", False),
        ("/v1/**", "/v1/a/b", True),
        ("/v1/**", "/v1", False),
        ("/v1/**", "/v1x/a", False),
        ("/**", "/", True),
        ("/**/edit", "/edit", True),
        ("/**/edit", "/a/b/edit", True),
        ("/**/edit", "/a/b/edit/c", False),
        ("/a/**/b/**/c", "/a/x/b/b/c", True),
        ("/a/**/b/**/c", "/a/b/c", True),
        ("/a/**/b/**/c", "/a/c/b", False),
        ("/m/*:generate", "/m/x:generate", True),
        ("/m/*:generate", "/m/x/y:generate", False),
    ],
)
def test_path(pattern: str, path: str, matches: bool) -> None:
    assert patterns.path_matches(patterns.check_path(pattern), path) is matches


@pytest.mark.parametrize("text", ["", "v1", "/a?b", "/a#b", "/a/../b", "/a**", "/./a"])
def test_bad_path_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="path"):
        patterns.check_path(text)


@pytest.mark.parametrize(
    "pattern, ref, matches",
    [
        ("main", "refs/heads/main", True),
        ("main", "refs/tags/main", False),
        ("release/*", "refs/heads/release/1", True),
        ("release/*", "refs/heads/release/1/hotfix", True),
        ("release/*", "refs/heads/release", False),
        ("*", "refs/heads/x", True),
        ("*", "refs/tags/v1", False),
        ("refs/*", "refs/tags/v1", True),
        ("refs/tags/v*", "refs/tags/v1", True),
    ],
)
def test_ref(pattern: str, ref: str, matches: bool) -> None:
    assert patterns.ref_matches(patterns.check_ref(pattern), ref) is matches


@pytest.mark.parametrize("text", ["", "a b", "a..b", "a~1", "/a", "a/", "a.lock", "a@{1}", "a\x00", "a:b"])
def test_bad_ref_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ref"):
        patterns.check_ref(text)


@pytest.mark.parametrize(
    "argv, whole, matches",
    [
        (["./d.sh", "staging"], True, True),
        (["./d.sh", "staging", "-v"], False, True),
        (["./d.sh", "staging", "-v"], True, False),
        (["./d.sh"], False, False),
        (["./d.sh", "production"], False, False),
    ],
)
def test_argv(argv: list[str], whole: bool, matches: bool) -> None:
    assert patterns.argv_matches(["./d.sh", "staging"], argv, whole=whole) is matches


def test_the_most_specific_comes_first() -> None:
    ordered = ["main", "release/1.*", "release/*", "agent/*", "*", "refs/*"]
    ranks = [patterns.ref_specificity(pattern) for pattern in ordered]
    assert ranks == sorted(ranks, reverse=True)
    assert patterns.most_specific(["*", "refs/heads/main", "main"], patterns.ref_specificity) == (
        "refs/heads/main",
        "main",
    )
    assert patterns.most_specific([], patterns.ref_specificity) == ()
    assert patterns.specificity("/a/*") > patterns.specificity("/a/**")


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_name_matches_as_the_standard_glob_does(pattern: str, name: str) -> None:
    assert patterns.name_matches(pattern, name) is fnmatchcase(name, pattern)


@given(st.lists(st.sampled_from(["a", "b", "**"]), max_size=5), st.lists(st.sampled_from("ab"), max_size=6))
def test_path_matches_as_a_plain_recursion_does(pattern: list[str], path: list[str]) -> None:
    def plain(left: list[str], right: list[str]) -> bool:
        if not left:
            return not right
        if left[0] == "**":
            least = 1 if len(left) == 1 else 0
            return any(plain(left[1:], right[at:]) for at in range(least, len(right) + 1))
        return bool(right) and left[0] == right[0] and plain(left[1:], right[1:])

    wanted = plain(["", *pattern], ["", *path])
    assert patterns.path_matches("/".join(["", *pattern]), "/".join(["", *path])) is wanted


def test_long_hostile_path_does_not_take_long() -> None:
    started = time.process_time()
    patterns.path_matches("/a/**/b/**/c/**/d", "/a" + "/b/c" * 20000)
    patterns.name_matches("*a*b*c*d", "abc" * 20000)
    assert time.process_time() - started < 2.0
