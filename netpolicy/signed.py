"""Requests that carry a signature over a time or a nonce: good now, worthless later. Pure.

Such a request cannot be stored and sent after an approval; only its own call can carry it. Told by the
names that each scheme fixes, whatever the values: a signature that is missed would fail at the upstream,
one that is seen too much asks for `--wait` without need.
"""

import re

from netpolicy.query import Query
from netpolicy.request import Request

# First word of Authorization -> what it is called.
_SCHEMES = {
    "aws4-hmac-sha256": "AWS Signature Version 4",
    "aws4-ecdsa-p256-sha256": "AWS Signature Version 4A",
    "aws": "AWS Signature Version 2",
    "goog4-rsa-sha256": "Google's V4 signature",
    "goog4-hmac-sha256": "Google's V4 signature",
    "goog1": "Google's V2 signature",
    "sharedkey": "Azure's shared key",
    "sharedkeylite": "Azure's shared key",
    "tc3-hmac-sha256": "Tencent's TC3 signature",
    "eg1-hmac-sha256": "Akamai EdgeGrid",
    "digest": "Digest login",  # RFC 7616: a nonce of the server's
    "signature": "HTTP signature",  # draft-cavage-http-signatures
    "hawk": "Hawk",
    "dpop": "DPoP",  # RFC 9449: a proof for each request
    "acs3-hmac-sha256": "Alibaba's ACS3 signature",
}
_HMAC = re.compile(r"[a-z0-9-]*hmac[a-z0-9-]*", re.IGNORECASE)
_SIGNATURE = re.compile(r"(?:^|[-_])(?:signature|sign|hmac)(?:[-_]|$)", re.IGNORECASE)
_MOMENT = re.compile(r"(?:^|[-_])(?:timestamp|nonce|date)(?:[-_]|$)", re.IGNORECASE)
# Parameters that stand together in a signed address.
_ADDRESSES = (
    ("AWS Signature Version 4", ("x-amz-signature",)),
    ("Google's V4 signature", ("x-goog-signature",)),
    ("a signature of AWS, Google or Alibaba", ("signature", "expires")),
    ("Azure's shared access signature", ("sig", "se")),
    ("OAuth 1.0", ("oauth_signature",)),
    ("a signature", ("signature", "timestamp")),
    ("a signature", ("signature", "nonce")),
)


def signature(request: Request) -> str | None:
    """What signs `request` for this moment, as people call it; None for nothing known."""
    return _by_login(request) or _by_headers(request) or _by_address(request.path.partition("?")[2])


def _by_login(request: Request) -> str | None:
    for value in request.header_values("authorization"):
        scheme, _, rest = value.strip().partition(" ")
        if scheme.lower() == "oauth":
            return "OAuth 1.0" if "oauth_signature" in rest.lower() else None
        if known := _SCHEMES.get(scheme.lower()):
            return known
        if _HMAC.fullmatch(scheme):
            return f"{scheme} login"
    return None


def _by_headers(request: Request) -> str | None:
    names = {name.lower() for name, _ in request.headers}
    if {"signature", "signature-input"} <= names:
        return "HTTP message signature"  # RFC 9421
    if "dpop" in names:
        return "DPoP"
    found = sorted(name for name in names if _SIGNATURE.search(name))
    if found and any(_MOMENT.search(name) for name in names):
        return f"the header {found[0]}"
    return None


def _by_address(query: str) -> str | None:
    given = Query(query)
    return next(
        (name for name, keys in _ADDRESSES if given and all(given.has(key) for key in keys)),
        None,
    )
