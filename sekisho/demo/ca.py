"""A private certificate authority and server certificates for made-up names."""

import datetime
import os
import ssl
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_CA_LIFE = datetime.timedelta(days=3650)
_SERVER_LIFE = datetime.timedelta(days=397)
_CLOCK_SKEW = datetime.timedelta(days=1)


def server_context(folder: Path, names: Sequence[str]) -> ssl.SSLContext:
    """A server's TLS context for `names`, issued by the authority in `folder` (made if absent).

    Writes `ca.pem`, `ca.key` (mode 0600) and `server.pem` (key and chain, mode 0600).
    """
    folder.mkdir(parents=True, exist_ok=True)
    authority, authority_key = _authority(folder)
    key = ec.generate_private_key(ec.SECP256R1())
    server = _issue(authority, authority_key, key.public_key(), names)
    chain = _pem(server) + _pem(authority)
    _write_private(folder / "server.pem", _key_pem(key) + chain)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(folder / "server.pem")
    return context


def _authority(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    certificate_file, key_file = folder / "ca.pem", folder / "ca.key"
    if certificate_file.exists() and key_file.exists():
        key = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{key_file} holds no elliptic curve key")
        return x509.load_pem_x509_certificate(certificate_file.read_bytes()), key
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _self_signed(key)
    _write_private(key_file, _key_pem(key))
    certificate_file.write_bytes(_pem(certificate))
    return certificate, key


def _self_signed(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("sekisho throw-away authority")
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key.public_key(), _CA_LIFE)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    return builder.sign(key, hashes.SHA256())


def _issue(
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    public: ec.EllipticCurvePublicKey,
    names: Sequence[str],
) -> x509.Certificate:
    builder = _builder(_name(names[0]), authority.subject, public, _SERVER_LIFE)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(issuer, critical=False)
    builder = builder.add_extension(alternatives, critical=False)
    purpose = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    return builder.add_extension(purpose, critical=False).sign(authority_key, hashes.SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, life: datetime.timedelta
) -> x509.CertificateBuilder:
    start = datetime.datetime.now(datetime.UTC) - _CLOCK_SKEW
    identifier = x509.SubjectKeyIdentifier.from_public_key(public)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + life)
        .add_extension(identifier, critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write_private(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
