"""What is signed for this moment, and what only looks like it."""

import pytest

from netpolicy.request import Request
from netpolicy.signed import signature


def request(path: str = "/", **headers: str) -> Request:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Request(method="PUT", scheme="https", host="a.test", port=443, path=path, headers=pairs)


@pytest.mark.parametrize(
    ("signed", "name"),
    [
        (
            request(
                Authorization="AWS4-HMAC-SHA256 Credential=AKIA/20260101/eu/s3/aws4_request, "
                "SignedHeaders=host;x-amz-date, Signature=0f",
                X_Amz_Date="20260101T000000Z",
            ),
            "AWS Signature Version 4",
        ),
        (request(Authorization="AWS AKIA:frJIUN8DYpKDtOLCwo="), "AWS Signature Version 2"),
        (request(authorization="aws4-hmac-sha256 x"), "AWS Signature Version 4"),
        (request(Authorization="SharedKey account:sig=", x_ms_date="Thu"), "Azure's shared key"),
        (request(Authorization='OAuth oauth_nonce="1", oauth_signature="x"'), "OAuth 1.0"),
        (request(Authorization='Digest username="a", nonce="n", response="r"'), "Digest login"),
        (request(Authorization='Signature keyId="a",headers="date",signature="x"'), "HTTP signature"),
        (request(Authorization="acme-HMAC-SHA512 id:nonce:mac"), "acme-HMAC-SHA512 login"),
        (request(Authorization="DPoP token", DPoP="ey"), "DPoP"),
        (request(Authorization="Bearer token", DPoP="ey"), "DPoP"),
        (
            request(Signature="sig1=:a:", Signature_Input='sig1=("@method");created=1'),
            "HTTP message signature",
        ),
        (request(X_Signature="a", X_Timestamp="1"), "the header x-signature"),
        (request(CB_ACCESS_SIGN="a", CB_ACCESS_TIMESTAMP="1"), "the header cb-access-sign"),
        (request(X_Hmac="a", Date="Thu"), "the header x-hmac"),
        (request("/o?X-Amz-Algorithm=A&X-Amz-Expires=60&X-Amz-Signature=0f"), "AWS Signature Version 4"),
        (request("/o?x-amz-%53ignature=0f"), "AWS Signature Version 4"),
        (request("/o?X-Goog-Signature=0f"), "Google's V4 signature"),
        (
            request("/o?AWSAccessKeyId=A&Expires=1&Signature=x"),
            "a signature of AWS, Google or Alibaba",
        ),
        (request("/o?sv=2022&se=2026-01-01&sr=b&sig=x"), "Azure's shared access signature"),
        (request("/o?oauth_nonce=1&oauth_signature=x"), "OAuth 1.0"),
        (request("/api/v3/order?timestamp=1&signature=x"), "a signature"),
    ],
)
def test_signed_for_this_moment(signed: Request, name: str) -> None:
    assert signature(signed) == name


@pytest.mark.parametrize(
    "plain",
    [
        request(),
        request(Authorization="Bearer aws4-hmac-sha256"),
        request(Authorization="Basic YTpi", Date="Thu"),
        request(Authorization="OAuth gho_token"),
        request(Authorization="token x", X_GitHub_Api_Version="2022"),
        request(X_Hub_Signature_256="sha256=x"),
        request(X_Timestamp="1"),
        request(Design="a", Date="Thu"),
        request("/o?signature=x"),
        request("/o?expires=1"),
        request("/o?sig=1"),
        request("/signature?a=timestamp"),
    ],
)
def test_can_be_stored(plain: Request) -> None:
    assert signature(plain) is None
