"""The kinds of services whose requests can be told apart, one small pure module for each family.

`JUDGES` maps the profile names that policy and presets use to the function that judges a call. A module is
imported when one of its kinds is asked for: a session meets few of them.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from netpolicy.call import Call, Finding

Judge = Callable[[Call], Finding | None]

MODULES = {
    "chat": "slack telegram",
    "cloud": "aws azure cosmosdb googleapis msgraph",
    "databases": "clickhouse couchdb etcd influxdb neo4j presto sparql trino",
    "forges": "bitbucket forgejo gitea github gitlab",
    "git": "git",
    "graphql": "graphql",
    "lfs": "lfs",
    "mcp": "a2a jsonrpc jsonrpc-eth mcp",
    "monitoring": "alertmanager grafana loki mimir otlp prometheus pushgateway thanos",
    "objects": "azure-blob gcs s3",
    "registries": (
        "bazel-cache cargo-registry debian-archive go-proxy gradle-cache maven npm oci-registry osv pypi "
        "python-index"
    ),
    "rpc": "connect-rpc grpc grpc-web twirp",
    "search": "algolia chroma elasticsearch meilisearch milvus opensearch pinecone qdrant typesense weaviate",
    "servers": "consul crl jenkins kubernetes mediawiki ocsp odata rfc3161 vault",
    "solr": "solr",
    "sqlservices": "cratedb databricks druid libsql neon pinot postgrest questdb rqlite snowflake",
    "webdav": "caldav carddav subversion webdav",
}


def module(name: str) -> Any:
    """A module of this package by its name."""
    return import_module(f"{__name__}.{name}")


class _Judges(Mapping[str, Judge]):
    def __init__(self) -> None:
        self._modules = {kind: name for name, kinds in MODULES.items() for kind in kinds.split()}
        self._asked: dict[str, Judge] = {}

    def __getitem__(self, kind: str) -> Judge:
        if kind not in self._asked:
            self._asked[kind] = module(self._modules[kind]).KINDS[kind]
        return self._asked[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


JUDGES: Mapping[str, Judge] = _Judges()
BODY_WITH_GET = frozenset({"elasticsearch", "opensearch"})
