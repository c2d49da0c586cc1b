"""Search engines and vector stores: which of their POSTs only search. Pure.

Sources: the REST API references of Elasticsearch 8, OpenSearch 2, Meilisearch, Typesense, Qdrant,
Weaviate, Milvus, Chroma, Pinecone and Algolia.
"""

import re

from netpolicy.call import Call, Finding, unknown
from netpolicy.content import Unreadable, repeats
from netpolicy.kinds import graphql, querytext
from netpolicy.kinds.databases import by_text
from netpolicy.kinds.example import EXTERNAL, JSON, READ, UNKNOWN, Example
from netpolicy.table import Table
from netpolicy.words import words
from sekisho.core.action import Effect

_ANY_INDEX = sorted(
    words(
        "_search _msearch _count _search/template _msearch/template _field_caps _validate/query _mget "
        "_rank_eval _search_shards _termvectors _mtermvectors _terms_enum _analyze _knn_search "
        "_eql/search _graph/explore"
    )
)
_PER_DOCUMENT = ("_explain/*", "_termvectors/*")
_CLUSTER = sorted(
    words(
        "_search/scroll _sql _sql/translate _query _render/template _render/template/* "
        "_cluster/allocation/explain _ingest/pipeline/_simulate _ingest/pipeline/*/_simulate "
        "_index_template/_simulate _index_template/_simulate/* _index_template/_simulate_index/*"
    )
)

_ELASTIC_READS = (
    *(f"GET,POST /{name}" for name in (*_ANY_INDEX, *_CLUSTER)),
    *(f"GET,POST /<index>/{name}" for name in (*_ANY_INDEX, *_PER_DOCUMENT)),
    "POST /<index>/_pit",
    "POST /<index>/_search/point_in_time",
    # Both free what the caller itself opened.
    "DELETE /_search/scroll",
    "DELETE /_pit",
    "DELETE /_search/point_in_time",
)
_ELASTIC_UNKNOWN = (
    "* /_scripts/painless/_execute",
    "* /_async_search",
    "* /<index>/_async_search",
    "* /_msearch/**/_execute",
)
_elastic_rest = Table("elasticsearch", read=_ELASTIC_READS, unknown=_ELASTIC_UNKNOWN)
_OPENSEARCH_TEXT = re.compile(r"/_(?:plugins|opendistro)/_(sql|ppl)(/_explain)?/?")
_PPL_READS = re.compile(r"\s*(?:search\s+)?(?:source|index)\s*=|\s*(?:describe|show)\s", re.IGNORECASE)


def _elastic(call: Call) -> Finding | None:
    """OpenSearch's SQL can delete where the server lets it; its piped language only reads."""
    match = _OPENSEARCH_TEXT.fullmatch(call.path)
    if match is None or call.method not in ("GET", "POST"):
        return _elastic_rest.judge(call)
    try:
        body = call.json() if call.has_body else {}
    except Unreadable as error:
        return unknown(str(error), code="sql-unreadable", verb="sql.query")
    text = body.get("query") if isinstance(body, dict) and not repeats(body, "query") else None
    if not isinstance(text, str):
        return by_text(Effect.UNKNOWN, "sql")
    if match[1] == "sql":
        return by_text(querytext.sql(text, "mysql"), "sql")
    return by_text(Effect.READ if _PPL_READS.match(text) else Effect.UNKNOWN, "ppl")


_meilisearch = Table(
    "meilisearch",
    read=[
        "POST /multi-search",
        "POST /indexes/*/{search,facet-search,similar}",
        "POST /indexes/*/documents/fetch",
        "POST /network/search",
    ],
)
_typesense = Table("typesense", read=["POST /multi_search"])
_qdrant = Table(
    "qdrant",
    read=[
        "POST /collections/*/points",
        "POST /collections/*/points/{search,scroll,count,recommend,discover,query}",
        "POST /collections/*/points/{search,recommend,discover,query}/{batch,groups}",
        "POST /collections/*/points/search/matrix/{pairs,offsets}",
        "POST /collections/*/facet",
    ],
)
_milvus = Table(
    "milvus",
    read=[
        "POST /v2/vectordb/entities/{search,query,get,hybrid_search,advanced_search}",
        "POST /v2/vectordb/collections/{list,describe,has,get_stats,get_load_state}",
        "POST /v2/vectordb/{indexes,partitions,aliases,users,roles,databases}/{list,describe,has,get_stats}",
        "POST /v1/vector/{search,query,get}",
    ],
)
_chroma = Table("chroma", read=["POST /api/{v1,v2}/**/{query,get,search}"])
_pinecone = Table(
    "pinecone",
    read=[
        "POST /query",
        "POST /describe_index_stats",
        "POST /vectors/fetch_by_metadata",
        "POST /records/namespaces/*/search",
    ],
)
_algolia = Table(
    "algolia",
    read=[
        "POST /1/indexes/*/{query,queries,browse,objects}",
        "POST /1/indexes/*/facets/*/query",
        "POST /1/indexes/*/{rules,synonyms}/search",
        "POST /1/dictionaries/*/search",
    ],
)


def _weaviate(call: Call) -> Finding | None:
    by_query = call.path.rstrip("/") in ("/v1/graphql", "/v1/graphql/batch")
    return graphql.judge(call) if by_query else _weaviate_rest.judge(call)


_weaviate_rest = Table("weaviate", read=["POST /v1/objects/validate"])

KINDS = {
    "elasticsearch": _elastic,
    "opensearch": _elastic,
    "meilisearch": _meilisearch.judge,
    "typesense": _typesense.judge,
    "qdrant": _qdrant.judge,
    "milvus": _milvus.judge,
    "chroma": _chroma.judge,
    "pinecone": _pinecone.judge,
    "algolia": _algolia.judge,
    "weaviate": _weaviate,
}

EXAMPLES = (
    Example("elasticsearch", "POST /logs/_search", READ, b"{}", JSON),
    Example("elasticsearch", "GET /logs/_search", READ, b"{}", JSON),
    Example("elasticsearch", "POST /_bulk/_search", EXTERNAL, b"{}", JSON),
    Example("elasticsearch", "POST /logs/_update/_search", EXTERNAL, b"{}", JSON),
    Example("elasticsearch", "PUT /_search/pipeline/p", EXTERNAL, b"{}", JSON),
    Example("elasticsearch", "POST /logs/_search/../_delete_by_query", EXTERNAL, b"{}", JSON),
    Example("elasticsearch", "POST /_bulk?filter_path=_search", EXTERNAL, b"{}", JSON),
    Example("elasticsearch", "POST /_scripts/painless/_execute", UNKNOWN, b"{}", JSON),
    Example("elasticsearch", "DELETE /_search/scroll/_all", EXTERNAL),
    Example("opensearch", "POST /_plugins/_sql", READ, b'{"query":"SELECT a FROM b"}', JSON),
    Example("opensearch", "POST /_plugins/_sql", EXTERNAL, b'{"query":"DELETE FROM b"}', JSON),
    Example("opensearch", "POST /_plugins/_ppl", READ, b'{"query":"source=a | head 1"}', JSON),
    Example("opensearch", "POST /_plugins/_ppl/_close", EXTERNAL, b"{}", JSON),
    Example("weaviate", "POST /v1/graphql/batch", READ, b'[{"query":"{Get{A{b}}}"}]', JSON),
    Example("meilisearch", "POST /indexes/p/search", READ, b"{}", JSON),
    Example("meilisearch", "POST /indexes/p/documents", EXTERNAL, b"{}", JSON),
    Example("typesense", "POST /multi_search", READ, b"{}", JSON),
    Example("typesense", "POST /collections/p/documents/import", EXTERNAL, b"{}", JSON),
    Example("qdrant", "POST /collections/c/points/query", READ, b"{}", JSON),
    Example("qdrant", "POST /collections/c/points/delete", EXTERNAL, b"{}", JSON),
    Example("milvus", "POST /v2/vectordb/entities/search", READ, b"{}", JSON),
    Example("milvus", "POST /v2/vectordb/entities/delete", EXTERNAL, b"{}", JSON),
    Example("chroma", "POST /api/v2/tenants/t/databases/d/collections/c/query", READ, b"{}", JSON),
    Example("pinecone", "POST /query", READ, b"{}", JSON),
    Example("pinecone", "POST /vectors/upsert", EXTERNAL, b"{}", JSON),
    Example("algolia", "POST /1/indexes/*/queries", READ, b"{}", JSON),
    Example("algolia", "POST /1/indexes/p/batch", EXTERNAL, b"{}", JSON),
    Example("weaviate", "POST /v1/graphql", READ, b'{"query":"{ Get { A { b } } }"}', JSON),
    Example("weaviate", "POST /v1/objects", EXTERNAL, b"{}", JSON),
)
