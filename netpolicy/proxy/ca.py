"""The certificate authority of this installation: made once, its key outside the sandbox, mode 0600.

The key file is named and formed as mitmproxy's `CertStore.from_store` reads it.
"""

import fcntl
import os
import ssl
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

_KEY_FILE = "mitmproxy-ca.pem"
_CERTIFICATE_FILE = "ca-cert.pem"


class Authority(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` is mitmproxy's confdir; `certificate` a PEM file without the key."""

    folder: Path
    certificate: Path


def ensure(folder: Path) -> Authority:
    """The authority in `folder`, made if it is not there; safe to call from several processes.

    Raises OSError, also for a key that others could read, and ValueError for one that cannot be read or
    does not belong to the certificate.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder):
        key_file, certificate_file = folder / _KEY_FILE, folder / _CERTIFICATE_FILE
        if not key_file.exists():
            _make(key_file, certificate_file)
        _check_private(key_file)
        if not certificate_file.exists():
            content = key_file.read_bytes()
            write_whole(certificate_file, content[content.index(b"-----BEGIN CERTIFICATE") :], 0o644)
        _check_pair(key_file, certificate_file)
        _check_valid(certificate_file)
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


def _check_private(key_file: Path) -> None:
    status = key_file.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionError(f"{key_file} must belong to you alone (mode 0600)")


def _check_pair(key_file: Path, certificate_file: Path) -> None:
    """A half that was put in place by hand: every client would refuse what the proxy presents."""
    try:
        if certificate_file.read_bytes().strip() not in key_file.read_bytes():
            raise ValueError("the key file holds another certificate")
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(key_file)
    except (ssl.SSLError, ValueError) as error:
        raise ValueError(
            f"key and certificate of the authority in {key_file.parent} do not belong together ({error}); "
            "remove the folder to get a new one"
        ) from error


def _check_valid(certificate_file: Path) -> None:
    """By the standard library: `cryptography` would cost every start 50 ms."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cafile=certificate_file)
    ends = [str(entry["notAfter"]) for entry in context.get_ca_certs()]
    if not ends or ssl.cert_time_to_seconds(ends[0]) < time.time():
        raise ValueError(
            f"the authority in {certificate_file.parent} has expired; remove the folder to get a new one"
        )


def _make(key_file: Path, certificate_file: Path) -> None:
    from netpolicy.proxy.issuing import self_signed

    secret, pem = self_signed()
    write_whole(certificate_file, pem, 0o644)
    write_whole(key_file, secret + pem, 0o600)
