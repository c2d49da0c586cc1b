"""What an act on a forge refers to that may move before it is sent: refs, pull requests, runs. Pure.

Each reference says how to read what it names now: a request to the same host that only reads, and where
the object id stands in the answer. Sources: the REST references of GitHub, GitLab and Gitea/Forgejo,
GitHub's GraphQL schema (see `movable_graphql`).
"""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, unquote_plus

import msgspec

Parameters = dict[str, Any]
ABSENT = "absent"


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """One thing an act refers to. `at` are the places of its ids in the JSON answer, dotted.

    `path` is read by GET, or with `body` (JSON) by POST.
    """

    what: str
    path: str
    at: tuple[str, ...]
    body: str = ""


class Pinning(msgspec.Struct, frozen=True, kw_only=True):
    """Where the API itself takes the expected id: the parameter's name, and whose id it is."""

    parameter: str
    reference: int = 0
    place: int = 0


class Movable(msgspec.Struct, frozen=True, kw_only=True):
    """All an act refers to; `pinning` where the API can be told to check, and was not."""

    references: tuple[Reference, ...] = ()
    pinning: Pinning | None = None


NOTHING = Movable()


class Rule(msgspec.Struct, frozen=True):
    """Acts of one shape: method, path below the project's, and what they refer to.

    `method` and `path` are patterns, not compiled before they are needed: few processes ever do.
    `make` gets the project's API path, the path's groups and the parameters.
    """

    method: str
    path: str
    make: Callable[[str, tuple[str, ...], Parameters], Iterator[Reference]]
    pin: str = ""


def _text(parameters: Parameters, *names: str) -> str:
    return next((value for name in names if isinstance(value := parameters.get(name), str) and value), "")


def _commit(name: str, ref: str, base: str, form: tuple[str, str]) -> Iterator[Reference]:
    """What a ref, of whatever kind, names now."""
    if ref:
        yield Reference(what=f"{name} {ref}", path=base + form[0].format(quote(ref, safe="")), at=(form[1],))


_HUB = ("/commits/{}", "sha")
_TEA = ("/git/commits/{}", "sha")
_LAB = ("/repository/commits/{}", "id")


def _named(form: tuple[str, str], **parameters: str) -> Callable[..., Iterator[Reference]]:
    """References by the names that parameters hold; `name=a,b` takes the first that is given."""

    def make(base: str, groups: tuple[str, ...], given: Parameters) -> Iterator[Reference]:
        for what, names in parameters.items():
            ref = _text(given, *names.split(","))
            owner, colon, branch = ref.partition(":")
            if colon and form is _HUB:  # `owner:branch` names a fork
                fork = f"{base.rpartition('/repos/')[0]}/repos/{owner}/{base.rpartition('/')[2]}"
                yield from _commit(what, branch, fork, form)
            else:
                yield from _commit(what, ref.removeprefix("refs/heads/"), base, form)

    return make


def _one(what: str, path: str, *at: str) -> Callable[..., Iterator[Reference]]:
    """A reference by the number or name in the act's own path."""

    def make(base: str, groups: tuple[str, ...], given: Parameters) -> Iterator[Reference]:
        yield Reference(what=f"{what} {groups[0]}", path=base + path.format(*groups), at=at)

    return make


def _release(form: tuple[str, str], tag_path: str, at: str) -> Callable[..., Iterator[Reference]]:
    """A release: its tag as far as there is one, else the commit that the tag will name."""

    def make(base: str, groups: tuple[str, ...], given: Parameters) -> Iterator[Reference]:
        if tag := _text(given, "tag_name", "tag"):
            yield Reference(what=f"tag {tag}", path=base + tag_path.format(quote(tag, safe="")), at=(at,))
        yield from _commit("target", _text(given, "target_commitish", "ref") or "HEAD", base, form)

    return make


_PULL = _one("pull request", "/pulls/{0}", "head.sha", "base.ref", "base.sha")
_MERGE_REQUEST = _one("merge request", "/merge_requests/{0}", "sha", "target_branch")
_HUB_REF = _one("ref", "/git/ref/{0}", "object.sha")
_BRANCH = _one("branch", "/branches/{0}", "commit.id")
_LAB_BRANCH = _one("branch", "/repository/branches/{0}", "commit.id")

_GITHUB = (
    Rule("PUT", r"/pulls/(\d+)/merge", _PULL, "sha"),
    Rule("PUT", r"/pulls/(\d+)/update-branch", _PULL, "expected_head_sha"),
    Rule("POST", r"/pulls/(\d+)/reviews", _PULL, "commit_id"),
    Rule("PATCH", r"/pulls/(\d+)", _PULL),
    Rule("POST", r"/pulls", _named(_HUB, head="head", base="base")),
    Rule("POST", r"/merges", _named(_HUB, head="head", base="base")),
    Rule("POST", r"/merge-upstream", _named(_HUB, branch="branch")),
    Rule("POST", r"/actions/workflows/([^/]+)/dispatches", _named(_HUB, ref="ref")),
    Rule("POST", r"/actions/runs/(\d+)/(?:rerun|rerun-failed-jobs|approve|cancel)",
          _one("workflow run", "/actions/runs/{0}", "head_sha", "run_attempt")),
    Rule("POST", r"/deployments", _named(_HUB, ref="ref")),
    Rule("POST", r"/releases", _release(_HUB, "/git/ref/tags/{}", "object.sha")),
    Rule("PATCH", r"/releases/(\d+)", _one("release", "/releases/{0}", "tag_name", "target_commitish")),
    Rule("(?:PATCH|DELETE)", r"/git/refs/(.+)", _HUB_REF),
    Rule("(?:PUT|DELETE)", r"/contents/.+", _named(_HUB, branch="branch")),
    Rule("POST", r"/branches/([^/]+)/rename", _named(_HUB)),
)  # fmt: skip
_GITEA = (
    Rule("POST", r"/pulls/(\d+)/merge", _PULL, "head_commit_id"),
    Rule("POST", r"/pulls/(\d+)/(?:update|reviews)", _PULL),
    Rule("PATCH", r"/pulls/(\d+)", _PULL),
    Rule("POST", r"/pulls", _named(_TEA, head="head", base="base")),
    Rule("POST", r"/actions/workflows/([^/]+)/dispatches", _named(_TEA, ref="ref")),
    Rule("POST", r"/releases", _release(_TEA, "/tags/{}", "commit.sha")),
    Rule("POST", r"/tags", _named(_TEA, target="target")),
    Rule("POST", r"/branches", _named(_TEA, start="old_ref_name,old_branch_name")),
    Rule("DELETE", r"/branches/([^/]+)", _BRANCH),
    Rule("(?:POST|PUT|DELETE)", r"/contents/.+", _named(_TEA, branch="branch")),
)
_GITLAB = (
    Rule("PUT", r"/merge_requests/(\d+)/merge", _MERGE_REQUEST, "sha"),
    Rule("POST", r"/merge_requests/(\d+)/approve", _MERGE_REQUEST, "sha"),
    Rule("PUT", r"/merge_requests/(\d+)(?:/rebase)?", _MERGE_REQUEST),
    Rule("POST", r"/merge_requests", _named(_LAB, source="source_branch", target="target_branch")),
    Rule("POST", r"/pipeline", _named(_LAB, ref="ref")),
    Rule("POST", r"/(?:ref/[^/]+/)?trigger/pipeline", _named(_LAB, ref="ref")),
    Rule("POST", r"/pipelines/(\d+)/(?:retry|cancel)", _one("pipeline", "/pipelines/{0}", "sha", "ref")),
    Rule("POST", r"/jobs/(\d+)/(?:play|retry)", _one("job", "/jobs/{0}", "commit.id", "ref")),
    Rule("POST", r"/repository/(?:tags|branches)", _named(_LAB, ref="ref")),
    Rule("POST", r"/releases", _release(_LAB, "/repository/tags/{}", "commit.id")),
    Rule("DELETE", r"/repository/branches/(.+)", _LAB_BRANCH),
    Rule("(?:POST|PUT|DELETE)", r"/repository/files/.+", _named(_LAB, branch="branch")),
    Rule("POST", r"/repository/commits", _named(_LAB, branch="branch,start_branch")),
)

_PROJECTS = (
    # The project's API path, and the acts below it. Without a prefix only a declared GitHub is meant.
    ("gitlab", re.compile(r"(/api/v4/projects/[^/]+)(/.*)"), _GITLAB),
    ("gitea", re.compile(r"(/api/v1/repos/[^/]+/[^/]+)(/.*)"), _GITEA),
    ("github", re.compile(r"(/api/v3/repos/[^/]+/[^/]+)(/.*)"), _GITHUB),
    ("github", re.compile(r"(/repos/[^/]+/[^/]+)(/.*)"), _GITHUB),
)


def parameters(path: str, media_type: str, body: Any) -> Parameters:
    """Those of the query and of the body, which is a JSON value or the text of a form."""
    texts = [path.partition("?")[2]]
    if isinstance(body, str) and media_type == "application/x-www-form-urlencoded":
        texts.append(body)
    found: Parameters = {}
    for part in "&".join(texts).split("&"):
        key, _, value = part.partition("=")
        if key:
            found[unquote_plus(key)] = unquote_plus(value)
    return {**found, **body} if isinstance(body, dict) else found


def of_rest(method: str, path: str, given: Parameters, kind: str | None) -> Movable:
    """What a request to a forge's REST API refers to; `kind` is the service that the host is declared as."""
    bare = path.partition("?")[0].rstrip("/")
    for forge, project, rules in _PROJECTS:
        match = project.fullmatch(bare)
        if match is None or (bare.startswith("/repos/") and kind != forge):
            continue
        for rule in rules:
            below = re.fullmatch(rule.path, match[2])
            if below and re.fullmatch(rule.method, method.upper()):
                return _movable(rule, match[1], below.groups(), given)
    return NOTHING


def _movable(rule: Rule, base: str, groups: tuple[str, ...], given: Parameters) -> Movable:
    references = tuple(rule.make(base, groups, given))
    pins = bool(rule.pin and references and not _text(given, rule.pin))
    return Movable(references=references, pinning=Pinning(parameter=rule.pin) if pins else None)


def values(answer: Any, reference: Reference) -> tuple[str, ...] | None:
    """The ids in an answer, None where one of them does not stand there."""
    found = []
    for place in reference.at:
        value = answer
        for step in place.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            return None
        found.append(str(value))
    return tuple(found)
