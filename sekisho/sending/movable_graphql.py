"""What a GraphQL mutation of GitHub's or GitLab's refers to that may move. Pure.

The input objects are read with their variables filled in; what they name is asked for by a query.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from sekisho.sending.movable import NOTHING, Movable, Reference

MAX_DOCUMENT = 64 * 1024

_PULL = "query($id:ID!){node(id:$id){... on PullRequest{headRefOid baseRefName baseRefOid}}}"
_REF = "query($id:ID!){node(id:$id){... on Ref{name target{oid}}}}"
_OBJECT = "query($id:ID!,$e:String!){node(id:$id){... on Repository{object(expression:$e){oid}}}}"
_MERGE_REQUEST = (
    "query($p:ID!,$i:String!){project(fullPath:$p){mergeRequest(iid:$i){diffHeadSha targetBranch}}}"
)

Input = dict[str, Any]


def _ask(what: str, path: str, query: str, variables: Input, *at: str) -> Reference:
    body = json.dumps({"query": query, "variables": variables}, separators=(",", ":"), sort_keys=True)
    return Reference(what=what, path=path, at=at, body=body)


def _pull(path: str, given: Input) -> Iterator[Reference]:
    if isinstance(number := given.get("pullRequestId"), str):
        at = ("data.node.headRefOid", "data.node.baseRefName", "data.node.baseRefOid")
        yield _ask(f"pull request {number}", path, _PULL, {"id": number}, *at)


def _ref(path: str, given: Input) -> Iterator[Reference]:
    if isinstance(ref := given.get("refId"), str):
        yield _ask(f"ref {ref}", path, _REF, {"id": ref}, "data.node.name", "data.node.target.oid")


def _in_repository(*names: str) -> Callable[[str, Input], Iterator[Reference]]:
    def make(path: str, given: Input) -> Iterator[Reference]:
        repository = given.get("repositoryId")
        for name in names:
            ref = given.get(name)
            if isinstance(repository, str) and isinstance(ref, str):
                variables = {"id": repository, "e": ref.rpartition(":")[2]}
                yield _ask(f"{name} {ref}", path, _OBJECT, variables, "data.node.object.oid")

    return make


def _merge_request(path: str, given: Input) -> Iterator[Reference]:
    project, number = given.get("projectPath"), given.get("iid")
    if isinstance(project, str) and isinstance(number, str):
        at = ("data.project.mergeRequest.diffHeadSha", "data.project.mergeRequest.targetBranch")
        yield _ask(f"merge request {number}", path, _MERGE_REQUEST, {"p": project, "i": number}, *at)


_MUTATIONS: dict[str, Callable[[str, Input], Iterator[Reference]]] = {
    "mergePullRequest": _pull,
    "enablePullRequestAutoMerge": _pull,
    "enqueuePullRequest": _pull,
    "updatePullRequestBranch": _pull,
    "addPullRequestReview": _pull,
    "submitPullRequestReview": _pull,
    "closePullRequest": _pull,
    "markPullRequestReadyForReview": _pull,
    "createPullRequest": _in_repository("headRefName", "baseRefName"),
    "mergeBranch": _in_repository("head", "base"),
    "createDeployment": _in_repository("ref"),
    "updateRef": _ref,
    "deleteRef": _ref,
    "mergeRequestAccept": _merge_request,
    "mergeRequestUpdate": _merge_request,
}


def of_graphql(path: str, payload: Any) -> Movable:
    """What the mutations of one request refer to."""
    if not isinstance(payload, dict) or not isinstance(document := payload.get("query"), str):
        return NOTHING
    variables = payload.get("variables")
    given = variables if isinstance(variables, dict) else {}
    bare = path.partition("?")[0]
    found = [
        reference
        for name, argument in _fields(document, given)
        if (make := _MUTATIONS.get(name)) and isinstance(argument, dict)
        for reference in make(bare, argument)
    ]
    return Movable(references=tuple(found))


def _fields(document: str, variables: Input) -> Iterator[tuple[str, Any]]:
    """Name and `input` of every top-level field of every mutation, variables filled in."""
    from graphql import FieldNode, GraphQLError, OperationDefinitionNode, parse, value_from_ast_untyped

    if len(document) > MAX_DOCUMENT:
        return
    try:
        tree = parse(document, no_location=True, max_tokens=10_000)
        for node in tree.definitions:
            if not isinstance(node, OperationDefinitionNode) or node.operation.value != "mutation":
                continue
            for field in node.selection_set.selections:
                if isinstance(field, FieldNode):
                    for argument in field.arguments or ():
                        if argument.name.value == "input":
                            yield field.name.value, value_from_ast_untyped(argument.value, variables)
    except (GraphQLError, RecursionError):
        return
