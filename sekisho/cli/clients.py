"""By what each client here will trust a session's authority. The table is that of docs/clients.md."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from netpolicy.proxy.trust import TrustFiles
from sandbox.check import Check
from sandbox.environment import Trust, environment

NSS, APT = "nss", "apt"  # what is read by clients that obey no variable


class Client(msgspec.Struct, frozen=True):
    """Programs of one kind, and what makes them trust an authority: variables, the first that is set counts,
    or a file of `TrustFiles`."""

    programs: tuple[str, ...]
    variables: tuple[str, ...] = ()
    file: str = ""


CLIENTS: tuple[Client, ...] = (
    Client(("curl",), ("CURL_CA_BUNDLE", "SSL_CERT_FILE")),
    Client(("wget",), ("WGETRC",)),
    Client(("git",), ("GIT_SSL_CAINFO",)),
    Client(("git-lfs", "gh", "go", "terraform", "kubectl"), ("SSL_CERT_FILE",)),
    Client(("python3", "uv", "poetry", "hatch"), ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")),
    Client(("pip", "pip3"), ("PIP_CERT",)),
    Client(("node", "bun", "claude", "gemini"), ("NODE_EXTRA_CA_CERTS",)),
    Client(("npm", "npx"), ("npm_config_cafile",)),
    Client(("pnpm",), ("NODE_EXTRA_CA_CERTS",)),
    Client(("yarn",), ("YARN_HTTPS_CA_FILE_PATH",)),
    Client(("deno",), ("DENO_CERT",)),
    Client(("java", "mvn", "gradle"), ("JAVA_TOOL_OPTIONS",)),
    Client(("cargo", "rustup"), ("CARGO_HTTP_CAINFO", "SSL_CERT_FILE")),
    Client(("ruby", "gem"), ("SSL_CERT_FILE",)),
    Client(("bundle",), ("BUNDLE_SSL_CA_CERT",)),
    Client(("aws",), ("AWS_CA_BUNDLE",)),
    Client(("gcloud",), ("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",)),
    Client(("codex",), ("SSL_CERT_FILE",)),
    Client(("apt-get",), file=APT),
    Client(("chromium", "google-chrome", "chromium-browser"), file=NSS),
)
TRUST_STORE = "-Djavax.net.ssl.trustStore="


def checks(files: TrustFiles, certificate: bytes, path: str | None = None) -> Iterator[Check]:
    """One check for each client on `path` (by default PATH). `certificate` is the authority's PEM text."""
    given = Trust(bundle=str(files.bundle), java=str(files.java), wgetrc=str(files.wgetrc))
    variables = environment({}, home="/", path="", terminal=False, trust=given)
    for client in CLIENTS:
        for program in client.programs:
            if (found := shutil.which(program, path=path)) is not None:
                by, file = _trusted_by(client, variables, files)
                yield _check(program, found, by, file, certificate, files)


def _trusted_by(client: Client, variables: Mapping[str, str], files: TrustFiles) -> tuple[str, Path | None]:
    """What the client reads, and the file that it leads to; None where there is none."""
    if client.file:
        return ("its NSS database", files.nss) if client.file == NSS else ("apt.conf", files.apt)
    for name in client.variables:
        if value := variables.get(name):
            words = (word.removeprefix(TRUST_STORE) for word in value.split() if TRUST_STORE in word)
            return name, Path(next(words, "") if name == "JAVA_TOOL_OPTIONS" else value)
    return " or ".join(client.variables), None


def _check(
    program: str, found: str, by: str, file: Path | None, certificate: bytes, files: TrustFiles
) -> Check:
    wrong = _wrong(file, certificate, files)
    if file is None and by == "its NSS database":
        instead = f"Install certutil (package libnss3-tools) and remove {files.folder}; it is made again."
    else:
        instead = f"Remove {files.folder}; it is made again."
    return Check(
        name=f"client {program}",
        ok=not wrong,
        needed=False,
        detail=f"{found} will not trust the sandbox's authority: {wrong}"
        if wrong
        else f"{found} trusts by {by}: {file.name if file else ''}",
        instead=instead if wrong else "",
    )


def _wrong(file: Path | None, certificate: bytes, files: TrustFiles) -> str:
    """Why a file is of no use to whoever reads it inside; "" where it is."""
    if file is None:
        return "there is no file for it"
    try:
        if file.is_dir():
            return "" if any(file.iterdir()) else f"{file} is empty"
        # Inside it is read by another user.
        if not file.stat().st_mode & 0o004 or not os.access(file, os.R_OK):
            return f"{file} cannot be read"
        if file == files.bundle and certificate.strip() not in file.read_bytes():
            return f"{file} does not hold it"
        return "" if file.stat().st_size else f"{file} is empty"
    except OSError as error:
        return f"{file}: {error.strerror}"
