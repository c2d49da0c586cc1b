"""The certificate authority of this installation: made once, its key outside the sandbox, mode 0600.

The key file is named and formed as mitmproxy's `CertStore.from_store` reads it.
"""

import datetime
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_NAME = "sekisho local authority"
_YEARS = 10
_KEY_FILE = "mitmproxy-ca.pem"
_CERTIFICATE_FILE = "ca-cert.pem"


class Authority(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` is mitmproxy's confdir; `certificate` a PEM file without the key."""

    folder: Path
    certificate: Path


def ensure(folder: Path) -> Authority:
    """The authority in `folder`, made if it is not there; safe to call from several processes.

    Raises OSError, also for a key that others could read, and ValueError for one that cannot be read.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder):
        key_file, certificate_file = folder / _KEY_FILE, folder / _CERTIFICATE_FILE
        if not key_file.exists():
            _make(key_file, certificate_file)
        _check(key_file)
        if not certificate_file.exists():
            content = key_file.read_bytes()
            write_whole(certificate_file, content[content.index(b"-----BEGIN CERTIFICATE") :], 0o644)
    return Authority(folder=folder, certificate=certificate_file)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock."""
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def write_whole(path: Path, content: bytes, mode: int) -> None:
    """Put a file in place in one step."""
    fd, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
    os.replace(name, path)


def _check(key_file: Path) -> None:
    status = key_file.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionError(f"{key_file} must belong to you alone (mode 0600)")
    certificate = x509.load_pem_x509_certificate(key_file.read_bytes())
    if certificate.not_valid_after_utc < datetime.datetime.now(datetime.UTC):
        raise ValueError(f"the authority in {key_file} has expired; remove the file to get a new one")


def _make(key_file: Path, certificate_file: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _certificate(key)
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    write_whole(certificate_file, pem, 0o644)
    write_whole(key_file, secret + pem, 0o600)


def _certificate(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, _NAME),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "sekisho"),
        ]
    )
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=365 * _YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
