"""What acts on forges refer to: recognised by shape, read by GET or a query."""

import json
from typing import Any

import pytest

from sekisho.sending.movable import Movable, of_rest, parameters, values
from sekisho.sending.movable_graphql import of_graphql

HUB, LAB, TEA = "/repos/a/b", "/api/v4/projects/a%2Fb", "/api/v1/repos/a/b"
TEA_RELEASE = [f"{TEA}/tags/v", f"{TEA}/git/commits/m"]
M = f"{HUB}/commits/m"

REFERS = [
    ("PUT", f"{HUB}/pulls/7/merge", {}, [f"{HUB}/pulls/7"]),
    ("put", f"{HUB}/pulls/7/merge/", {}, [f"{HUB}/pulls/7"]),
    ("POST", f"{HUB}/pulls", {"head": "x", "base": "main"}, [f"{HUB}/commits/x", f"{HUB}/commits/main"]),
    (
        "POST",
        f"{HUB}/pulls",
        {"head": "c:x/y", "base": "m"},
        ["/repos/c/b/commits/x%2Fy", M],
    ),
    ("POST", f"{HUB}/merges", {"head": "x", "base": "m"}, [f"{HUB}/commits/x", f"{HUB}/commits/m"]),
    ("POST", f"{HUB}/actions/workflows/d.yml/dispatches", {"ref": "refs/heads/m"}, [f"{HUB}/commits/m"]),
    ("POST", f"{HUB}/actions/runs/3/rerun", {}, [f"{HUB}/actions/runs/3"]),
    ("POST", f"{HUB}/deployments", {"ref": "m"}, [f"{HUB}/commits/m"]),
    ("POST", f"{HUB}/releases", {"tag_name": "v1"}, [f"{HUB}/git/ref/tags/v1", f"{HUB}/commits/HEAD"]),
    ("PATCH", f"{HUB}/git/refs/heads/m", {"sha": "1"}, [f"{HUB}/git/ref/heads/m"]),
    ("DELETE", f"{HUB}/git/refs/tags/v1", {}, [f"{HUB}/git/ref/tags/v1"]),
    ("PUT", f"{HUB}/contents/a/b.txt", {"branch": "m"}, [f"{HUB}/commits/m"]),
    ("PUT", "/api/v3/repos/a/b/pulls/7/merge", {}, ["/api/v3/repos/a/b/pulls/7"]),
    ("PUT", f"{LAB}/merge_requests/3/merge", {}, [f"{LAB}/merge_requests/3"]),
    ("POST", f"{LAB}/pipeline", {"ref": "m"}, [f"{LAB}/repository/commits/m"]),
    ("POST", f"{LAB}/ref/m/trigger/pipeline", {"ref": "m"}, [f"{LAB}/repository/commits/m"]),
    ("POST", f"{LAB}/repository/tags", {"tag_name": "v", "ref": "m"}, [f"{LAB}/repository/commits/m"]),
    ("POST", f"{LAB}/jobs/9/play", {}, [f"{LAB}/jobs/9"]),
    ("POST", f"{TEA}/pulls/1/merge", {"Do": "merge"}, [f"{TEA}/pulls/1"]),
    (
        "POST",
        f"{TEA}/releases",
        {"tag_name": "v", "target_commitish": "m"},
        [f"{TEA}/tags/v", f"{TEA}/git/commits/m"],
    ),
]
REFERS_TO_NOTHING = [
    ("GET", f"{HUB}/pulls/7/merge"),
    ("POST", f"{HUB}/issues"),
    ("POST", f"{HUB}/pulls/7/comments"),
    ("PUT", "/other/pulls/7/merge"),
    ("POST", "/user/repos"),
]


@pytest.mark.parametrize(("method", "path", "given", "read"), REFERS)
def test_what_moves_is_recognised(method: str, path: str, given: dict[str, Any], read: list[str]) -> None:
    assert [one.path for one in of_rest(method, path, given, "github").references] == read


@pytest.mark.parametrize(("method", "path"), REFERS_TO_NOTHING)
def test_other_acts_refer_to_nothing_that_moves(method: str, path: str) -> None:
    assert of_rest(method, path, {"ref": "m", "head": "x"}, "github") == Movable()


def test_a_path_of_no_forge_is_taken_for_none() -> None:
    assert of_rest("PUT", f"{HUB}/pulls/7/merge", {}, None) == Movable()
    assert of_rest("PUT", f"{HUB}/pulls/7/merge", {}, "gitlab") == Movable()


def test_the_expected_id_is_asked_for_where_it_was_not_given() -> None:
    pinning = of_rest("PUT", f"{HUB}/pulls/7/merge", {}, "github").pinning
    assert pinning is not None
    assert pinning.parameter == "sha"
    assert of_rest("PUT", f"{HUB}/pulls/7/merge", {"sha": "1"}, "github").pinning is None


def test_parameters_come_from_query_form_and_json() -> None:
    assert parameters("/x?ref=a%2Fb", "", None) == {"ref": "a/b"}
    assert parameters("/x", "application/x-www-form-urlencoded", "ref=m+n") == {"ref": "m n"}
    assert parameters("/x?ref=a", "application/json", {"ref": "b"}) == {"ref": "b"}


def test_a_ref_cannot_lead_the_reading_elsewhere() -> None:
    given = {"ref": "../../../user?x=#"}
    (reference,) = of_rest("POST", f"{HUB}/deployments", given, "github").references
    assert reference.path == f"{HUB}/commits/..%2F..%2F..%2Fuser%3Fx%3D%23"


def test_ids_are_taken_from_where_they_stand() -> None:
    (reference,) = of_rest("PUT", f"{HUB}/pulls/7/merge", {}, "github").references
    answer = {"head": {"sha": "1"}, "base": {"ref": "main", "sha": "2"}}
    assert values(answer, reference) == ("1", "main", "2")
    answers: tuple[Any, ...] = ({}, [], None, {"head": "x"}, {"head": {"sha": True}, "base": {"ref": "m"}})
    for broken in answers:
        assert values(broken, reference) is None


MERGE = "mutation($i: MergePullRequestInput!) { mergePullRequest(input: $i) { clientMutationId } }"
INLINE = 'mutation { mergePullRequest(input: {pullRequestId: "PR_1"}) { clientMutationId } }'


@pytest.mark.parametrize(
    "payload",
    [
        {"query": INLINE},
        {"query": MERGE, "variables": {"i": {"pullRequestId": "PR_1"}}},
        {
            "query": "mutation($p: ID!) { a: mergePullRequest(input: {pullRequestId: $p}) { x } }",
            "variables": {"p": "PR_1"},
        },
    ],
)
def test_a_mutation_is_read_with_its_variables(payload: dict[str, Any]) -> None:
    (reference,) = of_graphql("/graphql", payload).references
    assert json.loads(reference.body)["variables"] == {"id": "PR_1"}
    answer = {"data": {"node": {"headRefOid": "1", "baseRefName": "m", "baseRefOid": "2"}}}
    assert values(answer, reference) == ("1", "m", "2")


@pytest.mark.parametrize(
    "payload",
    [None, [], {}, {"query": 7}, {"query": "mutation {"}, {"query": "{ viewer { login } }"},
     {"query": MERGE, "variables": None}, {"query": "mutation { addStar(input: {starrableId: 1}) { x } }"}],
)  # fmt: skip
def test_other_documents_refer_to_nothing(payload: Any) -> None:
    assert of_graphql("/graphql", payload) == Movable()
