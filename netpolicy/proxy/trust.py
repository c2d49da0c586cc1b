"""Trust files for the clients inside: public roots, the policy's own authority, and ours.

Made once for each set of roots and kept; a folder appears in one step or not at all.
"""

import hashlib
import os
import re
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from netpolicy.proxy.ca import Authority, locked

JAVA_PASSWORD = "changeit"  # what Java expects of a trust store; there is nothing secret in it
INSIDE = "/run/sekisho/trust"
_FORMAT = b"1"  # counts up when the files' form changes
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
_SYSTEM_ROOTS = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


class TrustFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where the files lie outside; inside they have the same names below `inside`.

    `bundle` (PEM), `java` (PKCS 12 with JAVA_PASSWORD), `wgetrc`, `apt` (apt.conf) and `nss` (a folder,
    None without certutil) are for the sandbox. `upstream` (PEM) is for the proxy itself: everybody but us.
    """

    folder: Path
    inside: str
    upstream: Path
    bundle: Path
    java: Path
    wgetrc: Path
    apt: Path
    nss: Path | None


def system_roots(environment: Mapping[str, str] = os.environ) -> Path:
    """The PEM file with the roots that the person's machine trusts."""
    named = environment.get("SSL_CERT_FILE")
    paths = (named, ssl.get_default_verify_paths().cafile, *_SYSTEM_ROOTS)
    found = next((path for path in paths if path and Path(path).is_file()), None)
    if found is None:
        import certifi

        found = certifi.where()
    return Path(found)


def trust_files(
    cache: Path,
    authority: Authority,
    *,
    extra: Sequence[Path] = (),
    roots: Path | None = None,
    inside: str = INSIDE,
) -> TrustFiles:
    """The trust files below `cache` for the given roots (by default the machine's) and `extra` PEM files.

    Raises OSError, and ValueError for a file without certificates.
    """
    public = _normalised((roots or system_roots()).read_bytes())
    own = _normalised(authority.certificate.read_bytes())
    added = b"".join(_normalised(path.read_bytes()) for path in extra)
    digest = hashlib.sha256(b"\0".join((_FORMAT, public, added, own, inside.encode()))).hexdigest()
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = cache / f"trust-{digest[:16]}"
    with locked(cache):
        if not folder.is_dir():
            making = Path(tempfile.mkdtemp(prefix="making-", dir=cache))
            try:
                _fill(making, public + added, own, inside)
                making.rename(folder)
            finally:
                shutil.rmtree(making, ignore_errors=True)
    return _named(folder, inside)


def _named(folder: Path, inside: str) -> TrustFiles:
    nss = folder / "nssdb"
    return TrustFiles(
        folder=folder,
        inside=inside,
        upstream=folder / "upstream.pem",
        bundle=folder / "bundle.pem",
        java=folder / "java.p12",
        wgetrc=folder / "wgetrc",
        apt=folder / "apt.conf",
        nss=nss if nss.is_dir() else None,
    )


def _fill(folder: Path, upstream: bytes, own: bytes, inside: str) -> None:
    files = _named(folder, inside)
    files.upstream.write_bytes(upstream)
    files.bundle.write_bytes(upstream + own)
    from netpolicy.proxy.javastore import java_store

    files.java.write_bytes(java_store(upstream + own, JAVA_PASSWORD))
    files.wgetrc.write_text(f"ca_certificate = {inside}/{files.bundle.name}\n")
    files.apt.write_text(f'Acquire::https::CaInfo "{inside}/{files.bundle.name}";\n')
    certutil = shutil.which("certutil")
    if certutil is not None:
        _nss_database(certutil, folder / "nssdb", own)
    folder.chmod(0o755)  # the sandbox's user reads it, too
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _nss_database(certutil: str, folder: Path, own: bytes) -> None:
    folder.mkdir()
    certificate = folder.parent / "ca-cert.pem"
    certificate.write_bytes(own)
    database = f"sql:{folder}"
    for arguments in (
        ("-N", "--empty-password"),
        ("-A", "-n", "sekisho", "-t", "C,,", "-i", str(certificate)),
    ):
        subprocess.run(
            [certutil, "-d", database, *arguments],
            check=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        )


def _normalised(pem: bytes) -> bytes:
    """The certificates of a PEM file, each once, without comments and keys."""
    blocks = dict.fromkeys(match.group() for match in _CERTIFICATE.finditer(pem))
    if not blocks:
        raise ValueError("a file of certificates holds none")
    return b"".join(block + b"\n" for block in blocks)
