"""Forges: git, LFS, GraphQL, and a REST API of which few POSTs read. Pure.

Sources: REST references of GitHub, GitLab, Gitea/Forgejo, Bitbucket.
"""

from collections.abc import Callable

from netpolicy.call import Call, Finding
from netpolicy.kinds import git, graphql
from netpolicy.kinds.example import EXTERNAL, JSON, READ, UNKNOWN, Example
from netpolicy.table import Table

_github = Table(
    "github",
    read=[
        "POST /markdown",
        "POST /markdown/raw",
        "POST /api/v3/markdown",
        "POST /api/v3/markdown/raw",
        "POST /repos/*/*/releases/generate-notes",
    ],
)
_gitlab = Table(
    "gitlab",
    read=["POST /api/v4/markdown", "POST /api/v4/projects/**/ci/lint", "POST /api/v4/ci/lint"],
    write=["* /api/v4/**/trigger/pipeline"],
)
_gitea = Table("gitea", read=["POST /api/v1/{markdown,markup}", "POST /api/v1/markdown/raw"])
_bitbucket = Table("bitbucket")


def _forge(table: Table, *graphql_paths: str) -> Callable[[Call], Finding | None]:
    def judge(call: Call) -> Finding | None:
        if found := git.judge(call):
            return found
        if call.path.rstrip("/").lower() in graphql_paths:
            return graphql.judge(call)
        return table.judge(call)

    return judge


KINDS = {
    "github": _forge(_github, "/graphql", "/api/graphql"),
    "gitlab": _forge(_gitlab, "/api/graphql"),
    "gitea": _forge(_gitea),
    "forgejo": _forge(_gitea),
    "bitbucket": _forge(_bitbucket),
}
EXAMPLES = (
    Example("github", "GET /repos/a/b/pulls", READ),
    Example("github", "POST /markdown", READ, b'{"text":"x"}', JSON),
    Example("github", "POST /graphql", EXTERNAL, b'{"query":"mutation { a }"}', JSON),
    Example("github", "POST /graphql", READ, b'{"query":"{ a }"}', JSON),
    Example("github", "POST /graphql", UNKNOWN, b"{}", JSON),
    Example("github", "POST /api/v3/repos/a/b/issues", EXTERNAL, b"{}", JSON),
    Example("gitlab", "POST /api/v4/projects/a%2Fb/ci/lint", READ, b"{}", JSON),
    Example("gitlab", "GET /api/v4/projects/1/trigger/pipeline?token=t", EXTERNAL),
    Example("gitea", "POST /api/v1/markdown", READ, b"{}", JSON),
    Example("gitea", "POST /api/v1/user/repos", EXTERNAL, b"{}", JSON),
    Example("bitbucket", "POST /2.0/repositories/a/b/pullrequests", EXTERNAL, b"{}", JSON),
)
