"""The kinds of services whose requests can be told apart, one small pure module for each family.

`JUDGES` maps the profile names that policy and presets use to the function that judges a call.
"""

from collections.abc import Callable

from netpolicy.call import Call, Finding
from netpolicy.kinds import (
    chat,
    cloud,
    databases,
    forges,
    git,
    graphql,
    lfs,
    mcp,
    monitoring,
    objects,
    registries,
    rpc,
    search,
    servers,
    solr,
    sqlservices,
    webdav,
)
from netpolicy.kinds.example import Example

Judge = Callable[[Call], Finding | None]

_MODULES = (
    chat, cloud, databases, forges, git, graphql, lfs, mcp, monitoring, objects, registries, rpc, search,
    servers, solr, sqlservices, webdav,
)  # fmt: skip

JUDGES: dict[str, Judge] = {name: judge for module in _MODULES for name, judge in module.KINDS.items()}
EXAMPLES: tuple[Example, ...] = tuple(example for module in _MODULES for example in module.EXAMPLES)
BODY_WITH_GET = search.BODY_WITH_GET
