"""Container and package registries, vulnerability databases: lookups read, publishing writes. Pure.

Sources: OCI distribution spec 1.1, Docker token authentication, npm registry API, Warehouse's legacy
API and XML-RPC, Maven, Bazel and Gradle build caches.
"""

import re

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.content import Unreadable
from netpolicy.kinds.example import EXTERNAL, JSON, READ, UNKNOWN, XML, Example
from netpolicy.table import Table
from netpolicy.words import words

_PULL_SCOPE = re.compile(r"repository(?:\([^)]*\))?:[^ :]+(?::[0-9]+/[^ :]+)?:(?:pull)?|")
_TOKEN_PATH = re.compile(r".*/(?:token|auth)/?|/token/?", re.I)
_METHOD_NAME = re.compile(r"<methodName>\s*([A-Za-z0-9_.:/-]{1,100})\s*</methodName>")
_INDEX_READS = words(
    "list_packages list_packages_with_serial user_packages release_urls package_roles browse "
    "updated_releases changelog changelog_last_serial changelog_since_serial package_releases "
    "release_data search system.listMethods"
)


def token_scope(call: Call) -> Finding | None:
    """A registry token: by GET for pulling it is a read; anything more mints a right to write."""
    if not _TOKEN_PATH.fullmatch(call.path):
        return None
    if call.method == "POST":
        return unknown("a token by password or refresh token", code="registry-token")
    scopes = [part for value in call.query.all("scope") for part in value.split(" ")]
    if all(_PULL_SCOPE.fullmatch(scope) for scope in scopes):
        return read("a token for pulling", code="registry-token")
    return external("a token that can do more than pull", code="registry-token")


_registry = Table("oci-registry", read=["GET,HEAD /v2/**"])


def oci(call: Call) -> Finding | None:
    """Pulls read; uploads, manifests and deletions write."""
    return token_scope(call) or _registry.judge(call)


def python_index(call: Call) -> Finding | None:
    """A Python package index: XML-RPC lookups read, uploads and tokens write."""
    if call.method != "POST":
        return None
    if call.path.rstrip("/") != "/pypi" or call.media_type not in ("text/xml", "application/xml"):
        return external("uploads a package or mints a token", code="package-publish", verb="package.publish")
    try:
        names = _METHOD_NAME.findall(call.body.decode("utf-8", "replace"))
    except Unreadable as error:
        return unknown(str(error), code="xmlrpc-unreadable")
    if len(names) == 1 and names[0] in _INDEX_READS:
        return read(f"looks up {names[0]}", code="package-lookup")
    return unknown("an XML-RPC call that is not known to read", code="xmlrpc-unknown")


_npm = Table(
    "npm",
    read=[
        "POST /**/-/npm/v1/security/advisories/bulk",
        "POST /**/-/npm/v1/security/audits",
        "POST /**/-/npm/v1/security/audits/quick",
    ],
    write=["* /**/-/npm/v1/tokens/**?password", "PUT,DELETE /**"],
)
_archive = Table("archive")

KINDS = {
    "oci-registry": oci,
    "npm": _npm.judge,
    "python-index": python_index,
    "pypi": python_index,
    "debian-archive": _archive.judge,
    "maven": _archive.judge,
    "cargo-registry": _archive.judge,
    "go-proxy": _archive.judge,
    "gradle-cache": Table("gradle-cache").judge,
    "bazel-cache": Table("bazel-cache").judge,
    "osv": Table("osv", read=["POST /v1/{query,querybatch}", "POST /v1experimental/determineversion"]).judge,
}
EXAMPLES = (
    Example("oci-registry", "GET /v2/a/b/tags/list", READ),
    Example("oci-registry", "GET /token?service=s&scope=repository:a/b:pull", READ),
    Example("oci-registry", "GET /token?service=s&scope=repository:a/b:pull,push", EXTERNAL),
    Example("oci-registry", "GET /token?scope=repository:a/b:pull&scope=repository:a/c:*", EXTERNAL),
    Example("oci-registry", "POST /token", UNKNOWN, b"grant_type=password"),
    Example("oci-registry", "POST /v2/a/b/blobs/uploads/", EXTERNAL),
    Example("oci-registry", "PUT /v2/a/b/manifests/latest", EXTERNAL, b"{}"),
    Example("npm", "POST /-/npm/v1/security/advisories/bulk", READ, b'{"a":["1"]}', JSON),
    Example("npm", "PUT /a", EXTERNAL, b"{}", JSON),
    Example("npm", "POST /-/package/@a%2fb/access", EXTERNAL, b"{}", JSON),
    Example("npm", "GET /@a%2fb", READ),
    Example("python-index", "GET /simple/a/", READ),
    Example("python-index", "POST /legacy/", EXTERNAL, b"x"),
    Example(
        "python-index", "POST /pypi", READ, b"<methodCall><methodName>search</methodName></methodCall>", XML
    ),
    Example(
        "python-index", "POST /pypi", UNKNOWN, b"<methodCall><methodName>x</methodName></methodCall>", XML
    ),
    Example("debian-archive", "GET /debian/dists/stable/InRelease", READ),
    Example("debian-archive", "PUT /a.dsc", EXTERNAL, b"x"),
    Example("gradle-cache", "PUT /cache/0123", EXTERNAL, b"x"),
    Example("osv", "POST /v1/querybatch", READ, b"{}", JSON),
)
