"""Cloud control planes: Amazon, Google and Azure APIs, by the name of the operation. Pure.

Sources: AWS JSON and query protocols, Google AIP-131..136 (standard and custom methods), Azure
Resource Manager, Microsoft Graph, Cosmos DB REST references.
"""

import re

from netpolicy.batch import json_batch
from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Unreadable, repeats
from netpolicy.kinds import querytext
from netpolicy.kinds.databases import by_text
from netpolicy.kinds.example import EXTERNAL, FORM, JSON, READ, UNKNOWN, Example
from netpolicy.table import Table

_AWS_READ = re.compile(
    r"(?:Get|List|Describe|BatchGet|Query|Scan|Filter|Lookup|Search|Select|Head|TransactGet|Estimate|Simulate)"
    r"(?=[A-Z]|$)[A-Za-z0-9]*"
)
# They begin like reads, yet hand out credentials, take messages, or run what a text says.
_AWS_NO_READ = re.compile(
    r"(?:Get(?:SessionToken|FederationToken|AuthorizationToken|LoginToken|CredentialsFor\w*|IdToken|OpenIdToken\w*"
    r"|ClusterCredentials\w*|DataAccess|WebIdentityToken|TemporaryGlue\w*|RoleCredentials|AccessToken|Token"
    r"|SecretValue|RandomPassword|ParametersForImport)|BatchGetSecretValue|QueryObjects)"
)
_AWS_TEXT = re.compile(r"(?:Execute|BatchExecute|Start|Run|Invoke)\w*(?:Statement|Query|Transaction|Sql)\w*")


def _operation(name: str, doubt: bool) -> Finding:
    detail = {"api": "aws", "operation": name[:120]}
    if _AWS_TEXT.fullmatch(name):
        return unknown(f"{name}: its text decides", code="aws-text", verb="aws", detail=detail)
    if _AWS_READ.fullmatch(name) and not _AWS_NO_READ.match(name):
        make = unknown if doubt else read
        return make(
            f"{name} {'beside others' if doubt else 'reads'}", code="aws-read", verb="aws", detail=detail
        )
    return external(f"{name[:80]} changes something", code="aws-write", verb="aws", detail=detail)


def _by_statement(call: Call) -> Finding | None:
    """The text of an ExecuteStatement (DynamoDB's PartiQL, Redshift Data API), where it is plain."""
    try:
        body = call.json()
    except Unreadable:
        return None
    if not isinstance(body, dict) or repeats(body, "Statement", "Sql"):
        return None
    texts = [body[key] for key in ("Statement", "Sql") if key in body]
    if len(texts) != 1 or not isinstance(texts[0], str):
        return None
    return by_text(querytext.sql(texts[0], "redshift"), "sql")


def aws(call: Call) -> Finding | None:
    """The operation stands in `x-amz-target`, or in `Action` of the query or a form."""
    names = [value.rpartition(".")[2] for value in call.values("x-amz-target")]
    try:
        names += call.parameters("Action")
    except Unreadable as error:
        return unknown(str(error), code="aws-unreadable", verb="aws")
    if not names:
        if call.method != "POST":
            return None
        return external(
            "a POST without a known operation", code="aws-write", verb="aws", detail={"api": "aws"}
        )
    if call.method not in ("GET", "POST", "HEAD"):
        return None
    if [name.strip() for name in names] == ["ExecuteStatement"] and (told := _by_statement(call)) is not None:
        return told
    findings = [_operation(name.strip(), len(names) > 1) for name in names]
    worst = (
        [f for f in findings if f.effect is EXTERNAL]
        or [f for f in findings if f.effect is UNKNOWN]
        or findings
    )
    return worst[0]


_GOOGLE_READ = re.compile(
    r".*[:/](?:search|searchAll|query|runQuery|runAggregationQuery|batchGet|batchGetDocuments|list|listCollectionIds"
    r"|getIamPolicy|testIamPermissions|fetch|aggregatedList|batchGetValues|batchGetByDataFilter|count|lookup"
    r"|getAncestry|queryGrantableRoles|queryAssets|analyzeIamPolicy|partitionQuery|searchAllResources)"
)
_GOOGLE_READ_PATHS = Table(
    "googleapis",
    read=["POST /v2/entries:list", "POST /drive/v3/files/generateIds", "POST /calendar/v3/freeBusy"],
    unknown=["* /batch", "* /batch/**", "* /bigquery/v2/projects/*/jobs"],
    rest=None,
)
_GRPC_READ = re.compile(
    r"/google\.[\w.]+/(?:Get|List|BatchGet|Search|Query|RunQuery|RunAggregationQuery)(?=[A-Z]|$)\w*"
)


def google(call: Call) -> Finding | None:
    """Google APIs: custom methods after a colon; BigQuery by its text; gRPC by the method's name."""
    if call.method != "POST":
        return None
    if call.path.startswith("/google."):
        reads = _GRPC_READ.fullmatch(call.path) is not None
        return read("a gRPC read", code="grpc-read") if reads else external("a gRPC write", code="grpc-write")
    if re.fullmatch(r"/bigquery/v2/projects/[^/]+/queries/?", call.path):
        try:
            body = call.json()
        except Unreadable as error:
            return unknown(str(error), code="sql-unreadable")
        text = body.get("query") if isinstance(body, dict) else None
        return by_text(querytext.sql(text, "bigquery") if isinstance(text, str) else UNKNOWN, "sql")
    if found := _GOOGLE_READ_PATHS.judge(call):
        return found
    if _GOOGLE_READ.fullmatch(call.path) and ":" in call.path.rpartition("/")[2]:
        return read("a query method", code="google-read")
    return external("a POST that is not among the reads of googleapis", code="google-write")


_azure = Table(
    "azure",
    read=[
        "POST /providers/{Microsoft,microsoft}.{ResourceGraph,resourcegraph}/resources",
        "POST /v1/{workspaces,apps}/*/query",
        "POST /subscriptions/**/providers/Microsoft.CostManagement/query",
    ],
    unknown=["POST /**/list*", "POST /batch", "POST /**/$batch"],
)
_msgraph = Table(
    "msgraph",
    read=[
        "POST /{v1.0,beta}/search/query",
        "POST /{v1.0,beta}/**/{getByIds,getMemberGroups,checkMemberGroups}",
        "POST /{v1.0,beta}/**/{getMemberObjects,checkMemberObjects,isMemberOf}",
        "POST /{v1.0,beta}/**/{getSchedule,findMeetingTimes,validateProperties,translateExchangeIds}",
    ],
    unknown=["* /{v1.0,beta}/$batch"],
)


def msgraph(call: Call) -> Finding | None:
    """A batch says each of its requests."""
    return (json_batch(call) if call.path.endswith("/$batch") else None) or _msgraph.judge(call)


def cosmos(call: Call) -> Finding | None:
    """Cosmos DB: a header and a content type of its own mark a query on the URL that else creates."""
    if call.method != "POST":
        return None
    marked = [value.strip().lower() for value in call.values("x-ms-documentdb-isquery")]
    if marked == ["true"] and call.media_type == "application/query+json":
        return read("a query", code="cosmos-query")
    return external("creates a document", code="cosmos-write")


KINDS = {
    "aws": aws,
    "googleapis": google,
    "azure": _azure.judge,
    "msgraph": msgraph,
    "cosmosdb": cosmos,
}
_AMZ = {"content-type": "application/x-amz-json-1.0"}
EXAMPLES = (
    Example("aws", "POST /", READ, b"{}", {**_AMZ, "x-amz-target": "DynamoDB_20120810.Query"}),
    Example("aws", "POST /", EXTERNAL, b"{}", {**_AMZ, "x-amz-target": "DynamoDB_20120810.PutItem"}),
    Example("aws", "POST /", UNKNOWN, b"{}", {**_AMZ, "x-amz-target": "DynamoDB_20120810.ExecuteStatement"}),
    Example("aws", "POST /", EXTERNAL, b"Action=GetSessionToken", FORM),
    Example("aws", "POST /", READ, b"Action=DescribeInstances", FORM),
    Example("aws", "GET /?Action=Publish&Message=x", EXTERNAL),
    Example("aws", "POST /?Action=DescribeInstances", EXTERNAL, b"Action=TerminateInstances", FORM),
    Example("aws", "POST /2015-03-31/functions/f/invocations", EXTERNAL, b"{}"),
    Example("googleapis", "POST /v1/projects/p:testIamPermissions", READ, b"{}", JSON),
    Example("googleapis", "POST /v3/projects/p:setIamPolicy", EXTERNAL, b"{}", JSON),
    Example("googleapis", "POST /bigquery/v2/projects/p/queries", READ, b'{"query":"SELECT 1"}', JSON),
    Example(
        "googleapis", "POST /bigquery/v2/projects/p/queries", EXTERNAL, b'{"query":"DROP TABLE a"}', JSON
    ),
    Example("googleapis", "POST /google.pubsub.v1.Publisher/Publish", EXTERNAL, b"x"),
    Example("googleapis", "POST /google.firestore.v1.Firestore/RunQuery", READ, b"x"),
    Example("azure", "POST /providers/Microsoft.ResourceGraph/resources", READ, b"{}", JSON),
    Example("azure", "POST /subscriptions/s/a/listKeys", UNKNOWN),
    Example("azure", "POST /v1/workspaces/w/query", READ, b"{}", JSON),
    Example("azure", "POST /subscriptions/s/a/query", EXTERNAL, b"{}", JSON),
    Example("msgraph", "POST /v1.0/$batch", UNKNOWN, b"{}", JSON),
    Example(
        "msgraph", "POST /v1.0/$batch", READ, b'{"requests":[{"id":"1","method":"GET","url":"/me"}]}', JSON
    ),
    Example("msgraph", "POST /v1.0/search/query", READ, b"{}", JSON),
    Example("msgraph", "POST /v1.0/me/sendMail", EXTERNAL, b"{}", JSON),
    Example(
        "cosmosdb",
        "POST /d",
        READ,
        b"{}",
        {"content-type": "application/query+json", "x-ms-documentdb-isquery": "True"},
    ),
    Example("cosmosdb", "POST /d", EXTERNAL, b"{}", JSON),
)
