"""The authority's key and the trust files made from it."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from netpolicy.proxy import ca
from netpolicy.proxy.trust import JAVA_PASSWORD, TrustFiles, system_roots, trust_files
from tests.support.needs import needs


@pytest.fixture
def authority(tmp_path: Path) -> ca.Authority:
    return ca.ensure(tmp_path / "ca")


@pytest.fixture
def files(tmp_path: Path, authority: ca.Authority) -> TrustFiles:
    return trust_files(tmp_path / "trust", authority, roots=root(tmp_path / "root.pem"))


def root(path: Path) -> Path:
    trustme.CA().cert_pem.write_to_path(str(path))
    return path


def test_key_is_the_owners_alone_and_made_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: ca.ensure(tmp_path / "ca"), range(8)))
    key = tmp_path / "ca" / "mitmproxy-ca.pem"
    assert len({one.certificate.read_bytes() for one in made}) == 1
    assert key.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "ca").stat().st_mode & 0o777 == 0o700
    assert b"PRIVATE KEY" not in made[0].certificate.read_bytes()


def test_key_that_others_can_read_is_refused(tmp_path: Path, authority: ca.Authority) -> None:
    (authority.folder / "mitmproxy-ca.pem").chmod(0o644)
    with pytest.raises(PermissionError):
        ca.ensure(authority.folder)


def test_lost_certificate_comes_back_from_the_key_file(authority: ca.Authority) -> None:
    before = authority.certificate.read_bytes()
    authority.certificate.unlink()
    assert ca.ensure(authority.folder).certificate.read_bytes() == before


def test_certificate_of_another_authority_is_noticed(tmp_path: Path, authority: ca.Authority) -> None:
    authority.certificate.write_bytes(ca.ensure(tmp_path / "other").certificate.read_bytes())
    with pytest.raises(ValueError, match="do not belong together"):
        ca.ensure(authority.folder)


def test_key_of_another_authority_is_noticed(tmp_path: Path, authority: ca.Authority) -> None:
    key_file = authority.folder / "mitmproxy-ca.pem"
    other = (ca.ensure(tmp_path / "other").folder / "mitmproxy-ca.pem").read_bytes()
    begin = b"-----BEGIN CERTIFICATE"
    key_file.write_bytes(other.partition(begin)[0] + begin + key_file.read_bytes().partition(begin)[2])
    with pytest.raises(ValueError, match="do not belong together"):
        ca.ensure(authority.folder)


def test_bundle_holds_the_roots_the_extras_and_ours(tmp_path: Path, authority: ca.Authority) -> None:
    extra = root(tmp_path / "corp.pem")
    files = trust_files(tmp_path / "trust", authority, extra=[extra], roots=root(tmp_path / "root.pem"))
    assert len(x509.load_pem_x509_certificates(files.bundle.read_bytes())) == 3
    upstream = files.upstream.read_bytes()
    assert len(x509.load_pem_x509_certificates(upstream)) == 2
    assert authority.certificate.read_bytes().strip() not in upstream  # we do not trust ourselves upstream


def test_no_secret_is_among_the_files(files: TrustFiles) -> None:
    for path in filter(Path.is_file, files.folder.rglob("*")):
        assert b"PRIVATE KEY" not in path.read_bytes()


def test_files_are_made_once_for_the_same_roots(tmp_path: Path, authority: ca.Authority) -> None:
    roots = root(tmp_path / "root.pem")
    first = trust_files(tmp_path / "trust", authority, roots=roots)
    stamp = first.bundle.stat().st_mtime_ns
    assert trust_files(tmp_path / "trust", authority, roots=roots) == first
    assert first.bundle.stat().st_mtime_ns == stamp
    other = trust_files(tmp_path / "trust", authority, roots=root(tmp_path / "other.pem"))
    assert other.folder != first.folder


def test_settings_name_the_bundle_as_it_is_seen_inside(files: TrustFiles) -> None:
    assert files.wgetrc.read_text() == "ca_certificate = /run/sekisho/trust/bundle.pem\n"
    assert files.apt.read_text() == 'Acquire::https::CaInfo "/run/sekisho/trust/bundle.pem";\n'


def test_extra_file_without_certificates_is_refused(tmp_path: Path, authority: ca.Authority) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing\n")
    with pytest.raises(ValueError, match="holds none"):
        trust_files(tmp_path / "trust", authority, extra=[empty])
    assert not (tmp_path / "trust").exists()


def test_roots_of_the_machine_can_be_read(tmp_path: Path, authority: ca.Authority) -> None:
    files = trust_files(tmp_path / "trust", authority)
    assert files.bundle.read_bytes().count(b"BEGIN CERTIFICATE") > 20


def test_person_may_name_the_roots(tmp_path: Path) -> None:
    own = root(tmp_path / "own.pem")
    assert system_roots({"SSL_CERT_FILE": str(own)}) == own
    assert system_roots({"SSL_CERT_FILE": str(tmp_path / "absent")}).is_file()


@needs("keytool")
def test_java_reads_its_trust_store(files: TrustFiles) -> None:
    listed = subprocess.run(
        ["keytool", "-list", "-keystore", str(files.java), "-storepass", JAVA_PASSWORD],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert listed.stdout.count("trustedCertEntry") == 2


@needs("certutil")
def test_nss_database_trusts_us(files: TrustFiles) -> None:
    assert files.nss is not None
    certutil = shutil.which("certutil")
    assert certutil is not None
    listed = subprocess.run(
        [certutil, "-L", "-d", f"sql:{files.nss}"], capture_output=True, text=True, check=True, timeout=60
    )
    assert "sekisho" in listed.stdout
