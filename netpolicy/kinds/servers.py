"""Servers with an HTTP interface of their own: clusters, build servers, vaults, certificate services. Pure.

Sources: the API references of Kubernetes, Jenkins, Vault, Consul, OData 4.01 and MediaWiki; RFC 6960
(OCSP) and RFC 3161 (time stamps).
"""

from netpolicy.batch import json_batch
from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.kinds.example import EXTERNAL, FORM, JSON, READ, UNKNOWN, Example
from netpolicy.table import Table
from netpolicy.words import words

SMALL_BODY = 2048  # bytes; one certificate or one hash asks for far less

_kubernetes = Table(
    "kubernetes",
    write=["* /api/v1/**/{exec,attach,portforward,eviction,binding,token}"],
    unknown=["* /**/proxy", "* /**/proxy/**", "POST,PUT,PATCH,DELETE /**?dryRun=All"],
    read=[
        "POST /apis/authorization.k8s.io/{v1,v1beta1}/self{subjectaccessreviews,subjectrulesreviews}",
        "POST /apis/authorization.k8s.io/{v1,v1beta1}/subjectaccessreviews",
        "POST /apis/authorization.k8s.io/{v1,v1beta1}/namespaces/*/localsubjectaccessreviews",
        "POST /apis/authentication.k8s.io/{v1,v1beta1,v1alpha1}/selfsubjectreviews",
        "POST /apis/authentication.k8s.io/{v1,v1beta1}/tokenreviews",
    ],
)
_jenkins = Table(
    "jenkins",
    write=[
        "* /**/{build,buildWithParameters,polling,buildByToken,stop,term,kill,enable,disable}",
        "* /**/{doDelete,doWipeOutWorkspace,createItem,script,scriptText,cancelItem}",
        "* /**/{quietDown,cancelQuietDown,restart,safeRestart,exit,safeExit,reload}",
        "* /**/buildByToken/**",
        "* /generic-webhook-trigger/**",
        "* /**/notifyCommit",
    ],
    read=["POST /pipeline-model-converter/validate"],
)
_vault = Table(
    "vault",
    read=[
        "LIST /v1/**",
        "POST /v1/sys/{capabilities,capabilities-self,capabilities-accessor}",
        "POST /v1/auth/token/{lookup,lookup-self,lookup-accessor}",
        "POST /v1/sys/wrapping/lookup",
    ],
    # Reading these makes a new credential.
    unknown=["GET,POST,PUT /v1/*/{creds,sts,static-creds,sign,issue}/**", "GET /v1/**/creds/**"],
)
_odata = Table("odata", read=["POST /**/$query"], unknown=["* /**/$batch"])


def odata(call: Call) -> Finding | None:
    """`$batch` in JSON says each request; the older form in MIME is not read."""
    return (json_batch(call) if call.path.endswith("/$batch") else None) or _odata.judge(call)


def _asks(call: Call, media_type: str, what: str) -> Finding | None:
    if call.method != "POST":
        return None
    if call.media_type == media_type and len(call.body) <= SMALL_BODY:
        return read(f"asks about one certificate or hash ({what})", code=what)
    return unknown(f"not the request that {what} makes", code=f"{what}-odd")


def ocsp(call: Call) -> Finding | None:
    """A small OCSP request."""
    return _asks(call, "application/ocsp-request", "ocsp")


def timestamp(call: Call) -> Finding | None:
    """A time-stamp query: it takes one hash outside."""
    return _asks(call, "application/timestamp-query", "rfc3161")


_WIKI_READS = words(
    "query parse opensearch expandtemplates paraminfo help feedrecentchanges feedcontributions "
    "compare wbgetentities wbsearchentities wbgetclaims wbformatvalue sitematrix templatedata "
    "visualeditor-check"
)


def mediawiki(call: Call) -> Finding | None:
    """`action` decides; without one the page itself is asked for."""
    if call.method not in ("GET", "HEAD", "POST") or not call.path.endswith("/api.php"):
        return None
    actions = [value.strip().lower() for value in call.parameters("action")]
    if len(set(actions)) == 1 and actions[0] in _WIKI_READS:
        return read(f"reads the wiki: {actions[0]}", code="wiki-read")
    if call.method == "POST" and len(set(actions)) == 1:
        return external(f"changes the wiki: {actions[0][:40]}", code="wiki-write")
    return (
        unknown("an action that is not known to read", code="wiki-unknown")
        if actions or call.method == "POST"
        else None
    )


KINDS = {
    "kubernetes": _kubernetes.judge,
    "jenkins": _jenkins.judge,
    "vault": _vault.judge,
    "odata": odata,
    "ocsp": ocsp,
    "crl": Table("crl").judge,
    "rfc3161": timestamp,
    "mediawiki": mediawiki,
    "consul": Table("consul").judge,
}
_OCSP = {"content-type": "application/ocsp-request"}
EXAMPLES = (
    Example("kubernetes", "GET /api/v1/namespaces/d/pods/p/log", READ),
    Example("kubernetes", "POST /api/v1/namespaces/d/pods/p/exec?command=sh", EXTERNAL),
    Example("kubernetes", "GET /api/v1/namespaces/d/pods/p/exec?command=sh", EXTERNAL),
    Example("kubernetes", "GET /api/v1/namespaces/d/services/s/proxy/x", UNKNOWN),
    Example("kubernetes", "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", READ, b"{}", JSON),
    Example("kubernetes", "DELETE /api/v1/namespaces/d", EXTERNAL),
    Example("jenkins", "GET /job/app/build?token=T", EXTERNAL),
    Example("jenkins", "GET /job/app/Build?token=T", EXTERNAL),
    Example("jenkins", "GET /job/app/1/consoleText", READ),
    Example("vault", "LIST /v1/secret/metadata/a", READ),
    Example("vault", "GET /v1/database/creds/r", UNKNOWN),
    Example("vault", "POST /v1/auth/approle/login", EXTERNAL, b"{}", JSON),
    Example("odata", "POST /svc/Items/$query", READ, b"$filter=a", {"content-type": "text/plain"}),
    Example("odata", "POST /svc/$batch", UNKNOWN, b"--b--"),
    Example(
        "odata", "POST /svc/$batch", READ, b'{"requests":[{"id":"1","method":"GET","url":"Items(1)"}]}', JSON
    ),
    Example(
        "odata", "POST /svc/$batch", EXTERNAL, b'{"requests":[{"id":"1","method":"patch","url":"A"}]}', JSON
    ),
    Example("ocsp", "POST /", READ, b"0" * 80, _OCSP),
    Example("ocsp", "POST /", UNKNOWN, b"0" * 4000, _OCSP),
    Example("rfc3161", "POST /", READ, b"09", {"content-type": "application/timestamp-query"}),
    Example("crl", "GET /root.crl", READ),
    Example("mediawiki", "GET /w/api.php?action=query", READ),
    Example("mediawiki", "POST /w/api.php", EXTERNAL, b"action=edit", FORM),
    Example("mediawiki", "GET /w/api.php?action=logout", UNKNOWN),
    Example("consul", "PUT /v1/kv/a", EXTERNAL, b"x"),
)
