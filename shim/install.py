"""Puts the client in front of tools: one file, a name for each, and the table for when nobody answers."""

import os
from collections.abc import Iterable
from pathlib import Path

import shim
from shim.offline import table

# Tools whose real program the sandbox has, and absent ones for which the client answers how to ask.
TOOLS: tuple[str, ...] = (
    "git", "curl", "wget", "gh", "glab", "http", "https", "xh", "npm", "pnpm", "yarn", "twine", "docker", (
        "podman"
    ),
    "ssh", "scp", "sftp", "rsync", "ftp", "nc", "ncat", "telnet", "socat", "mail", "sendmail", "kubectl", (
        "helm"
    ),
    "terraform", "tofu", "pulumi", "ansible", "ansible-playbook", "aws", "gcloud", "gsutil", "az", "heroku",
    "vercel", "netlify", "fly", "flyctl", "firebase", "wrangler", "serverless", "cdk", "skopeo", "sudo", (
        "crontab"
    ),
)  # fmt: skip
_NAME = "sekisho-shim"


def client_source() -> Path:
    """The client as a Python program."""
    return Path(shim.__file__).with_name("client.py")


def compiled_client() -> Path | None:
    """The compiled client, if the installation has one for this machine."""
    path = Path(shim.__file__).with_name("client.bin")
    return path if path.is_file() and os.access(path, os.X_OK) else None


def install(folder: Path, tools: Iterable[str] = TOOLS, *, client: Path | None = None) -> None:
    """Fills an empty `folder`, which then is mounted read-only as the first of PATH.

    `client` defaults to the compiled one, else the Python one. All names are one inode: that is how the
    client knows itself under any spelling. Raises FileExistsError if the folder holds such names already.
    """
    source = client or compiled_client() or client_source()
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    own = folder / f".{_NAME}"
    with own.open("xb") as file:
        file.write(source.read_bytes())
    own.chmod(0o555)
    names = sorted(set(tools))
    for name in names:
        os.link(own, folder / name)
    request = folder / "sekisho-request"
    request.write_bytes(client_source().with_name("request.py").read_bytes())
    request.chmod(0o555)
    (folder / ".offline").write_text(table(names))
    (folder / ".offline").chmod(0o444)
