"""The trust files, laid where clients look that read no variable: bundles, browsers' database, apt."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sandbox.base import ETC
from sandbox.spec import Mount, MountKind

APT = "/etc/apt/apt.conf.d/99sekisho"
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch, Gentoo
    "/etc/ssl/cert.pem",  # Alpine, OpenSSL's own default
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora and its like
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
)
VISIBLE = ("/usr/", *(f"/etc/{name}" for name in ETC if name.startswith(("ssl/", "pki/"))))


def mounts(files: Path, home: str, bundles: Iterable[str] = BUNDLES, *, apt: bool = True) -> Iterator[Mount]:
    """The files of the folder `files` at their places: `bundle.pem` at each of `bundles`, `nssdb` (where it
    was made) in `home`, and `apt.conf`."""
    for path in bundles:
        yield Mount(kind=MountKind.RO, source=str(files / "bundle.pem"), target=path)
    if (files / "nssdb").is_dir():
        yield Mount(kind=MountKind.RO, source=str(files / "nssdb"), target=f"{home}/.pki/nssdb")
    if apt:
        yield Mount(kind=MountKind.RO, source=str(files / "apt.conf"), target=APT)


def over_this_system(files: Path, home: str, root: str = "/") -> Iterator[Mount]:
    """Only where this machine has such a file, or a mount point would be made where there is nothing.

    `root` is where the system's files lie.
    """
    apt = os.path.isdir(os.path.join(root, "etc/apt"))
    return mounts(files, home, _present(root), apt=apt)


def _present(root: str) -> Iterator[str]:
    """The files behind the known names, each once: no mount goes over a link."""
    behind = (os.path.realpath(os.path.join(root, name.lstrip("/"))) for name in BUNDLES)
    for real in dict.fromkeys(behind):
        inside = "/" + os.path.relpath(real, root)
        if os.path.isfile(real) and inside.startswith(VISIBLE):
            yield inside
