"""Object stores: fetching reads; uploads, deletions and settings write; batches hide other calls. Pure.

Sources: Amazon S3, Google Cloud Storage (JSON and XML) and Azure Blob, Queue and Table REST references.
"""

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.kinds.example import EXTERNAL, READ, UNKNOWN, XML, Example
from netpolicy.table import Table


def s3(call: Call) -> Finding | None:
    """S3 and what is compatible with it: of the POSTs only Select reads."""
    if call.method != "POST":
        return None
    select = call.query.all("select-type") == ["2"] and call.query.has("select")
    others = {key.lower() for key, _ in call.query} - {"select", "select-type", "x-id"}
    if select and not any(not key.startswith("x-amz-") for key in others):
        return read("selects from an object", code="object-select")
    return external("changes objects or their settings", code="object-write")


_gcs = Table("gcs", unknown=["* /batch/**", "* /batch"])


def azure_blob(call: Call) -> Finding | None:
    """Azure Storage: `comp` tells the operation of a POST; taking a queue message hides it from others."""
    if call.method == "POST":
        comp = {value.lower() for value in call.query.all("comp")}
        if comp == {"query"}:
            return read("queries a blob", code="object-select")
        if "batch" in comp or call.path.endswith("/$batch"):
            return unknown("a batch wraps other calls", code="batch")
        return external("changes blobs or mints a key", code="object-write")
    takes = call.method == "GET" and call.path.rstrip("/").lower().endswith("/messages")
    if takes and "queue." in call.host and call.query.all("peekonly") != ["true"]:
        return external("takes messages from a queue", code="queue-take")
    return None


KINDS = {"s3": s3, "gcs": _gcs.judge, "azure-blob": azure_blob}
EXAMPLES = (
    Example("s3", "GET /a?list-type=2", READ),
    Example("s3", "POST /a.csv?select&select-type=2", READ, b"<a/>", XML),
    Example("s3", "POST /a.csv?select&select-type=2&delete", EXTERNAL, b"<a/>", XML),
    Example("s3", "POST /?delete", EXTERNAL, b"<a/>", XML),
    Example("s3", "PUT /a?acl", EXTERNAL),
    Example("gcs", "GET /storage/v1/b/a/o/b?alt=media", READ),
    Example("gcs", "POST /upload/storage/v1/b/a/o?uploadType=media", EXTERNAL, b"x"),
    Example("gcs", "POST /batch/storage/v1", UNKNOWN, b"--b--"),
    Example("azure-blob", "POST /c/a?comp=query", READ, b"<a/>", XML),
    Example("azure-blob", "POST /?comp=batch", UNKNOWN, b"x"),
    Example("azure-blob", "PUT /c/a?comp=block", EXTERNAL, b"x"),
)
