import pytest
from hypothesis import given
from hypothesis import strategies as st

from netpolicy.canonical import HostError, canonical_host, canonical_path, oddly_spelled
from netpolicy.query import Query


@pytest.mark.parametrize(
    ("spelled", "host"),
    [
        ("API.Example", "api.example"),
        ("api.example.", "api.example"),
        ("bücher.example".encode().decode("latin-1"), "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("a_b.example", "a_b.example"),
        ("[::FFFF:10.0.0.8]", "10.0.0.8"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("0x7f.1", "127.0.0.1"),
    ],
)
def test_one_spelling_for_a_host(spelled: str, host: str) -> None:
    assert canonical_host(spelled) == host


@pytest.mark.parametrize(
    ("spelled", "code"),
    [
        ("user@api.example", "disagreement"),
        ("user:pw@api.example", "disagreement"),
        ("api%2eexample", "malformed-request"),
        ("[fe80::1%25eth0]", "malformed-request"),
        ("", "malformed-request"),
        ("a..example", "malformed-request"),
        ("api.example..", "malformed-request"),
        ("a b", "malformed-request"),
        ("a/b", "malformed-request"),
        ("a\\b", "malformed-request"),
        ("x" * 64 + ".example", "malformed-request"),
        ("①②⑦.⓪.⓪.①".encode().decode("latin-1"), "host-disguised"),
        ("".join(chr(ord(c) + 0xFEE0) for c in "localhost").encode().decode("latin-1"), "host-disguised"),
        ("\xff\xfe", "malformed-request"),
        ("999.1.1.1", "malformed-request"),
    ],
)
def test_hosts_that_no_request_may_name(spelled: str, code: str) -> None:
    with pytest.raises(HostError) as caught:
        canonical_host(spelled)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("host", "odd"), [("127.1", True), ("0x7f000001", True), ("127.0.0.1", False), ("a.b", False)]
)
def test_odd_spellings_are_seen(host: str, odd: bool) -> None:
    assert oddly_spelled(host) is odd


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/a/b", "/a/b"),
        ("/a/b/", "/a/b/"),
        ("/", "/"),
        ("//a", "/a"),
        ("/a//b", "/a/b"),
        ("/a/./b", "/a/b"),
        ("/a/../b", "/b"),
        ("/../../b", "/b"),
        ("/a/%2e%2e/b", "/b"),
        ("/a%2Fb", "/a/b"),
        ("/a\\..\\b", "/b"),
        ("/%61", "/a"),
        ("/a/..", "/"),
        ("/x/a/..", "/x/"),
        ("/日".encode().decode("latin-1"), "/日"),
    ],
)
def test_one_spelling_for_a_path(raw: str, path: str) -> None:
    assert canonical_path(raw).path == path


def test_other_readings_of_a_path_are_told() -> None:
    assert "/git-receive-pack" in canonical_path("/git-receive%252Dpack").others
    assert "/a/git-receive-pack" in canonical_path("/a/git-receive-pack;x=y").others
    assert "/_bulk" in canonical_path("/_bulk%3f/_search").others
    assert "/b" in canonical_path("/a/%252e%252e/b").others
    assert canonical_path("/plain/path").others == ()


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=60))
def test_canonical_paths_are_stable(raw: str) -> None:
    form = canonical_path("/" + raw)
    assert form.path.startswith("/")
    assert "/../" not in form.path
    assert "//" not in form.path


@given(st.text(max_size=60))
def test_any_text_is_a_host_or_refused(text: str) -> None:
    try:
        host = canonical_host(text)
    except HostError:
        return
    assert host.isascii()
    assert host == host.lower()
    assert canonical_host(host) == host


def test_parameters_are_found_in_any_case_and_as_often_as_they_stand() -> None:
    query = Query("a=1&A=2&%61=3&b&c=x+y%20z&=v&")
    assert query.all("a") == ["1", "2", "3"]
    assert query.exactly("a") is None
    assert query.exactly("c") == "x y z"
    assert query.has("b")
    assert not query.has("d")
    assert not Query("")
