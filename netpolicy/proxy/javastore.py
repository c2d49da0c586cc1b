"""A trust store for Java (PKCS 12). Apart from `trust`, because its libraries are slow to import."""

import re
import warnings
from collections.abc import Iterator

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.utils import CryptographyDeprecationWarning

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")


def java_store(pem: bytes, password: str) -> bytes:
    """The certificates of `pem` as a store that Java trusts."""
    entries = [
        pkcs12.PKCS12Certificate(certificate, f"root-{number}".encode())
        for number, certificate in enumerate(_certificates(pem))
    ]
    encryption = serialization.BestAvailableEncryption(password.encode())
    return pkcs12.serialize_java_truststore(entries, encryption)


def _certificates(pem: bytes) -> Iterator[x509.Certificate]:
    for match in _CERTIFICATE.finditer(pem):
        with warnings.catch_warnings():  # public roots with a serial number that RFC 5280 forbids
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            try:
                yield x509.load_pem_x509_certificate(match.group())
            except ValueError:
                continue
