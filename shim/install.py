"""Puts the client in front of tools: one file, a name for each, and the table for when nobody answers."""

import contextlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import shim
from shim.compiling import kept
from shim.suites import OFTEN

# Tools whose real program the sandbox has, and absent ones for which the client answers how to ask.
TOOLS: tuple[str, ...] = (
    "rm", "shred", "truncate",  # they lose work: a checkpoint, or in place a person, comes first
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
INTERPRETER = "/usr/bin/python3"  # that of stub.py
_ELF = b"\x7fELF"


def client_source() -> Path:
    """The client as a Python module."""
    return Path(shim.__file__).with_name("client.py")


def compiled_client() -> Path | None:
    """The compiled client, if the installation has one of its own sources for this machine."""
    path = kept(client_source().parent)
    return path if path.is_file() and os.access(path, os.X_OK) else None


def install(folder: Path, tools: Iterable[str] = TOOLS, *, client: Path | None = None) -> None:
    """Fills an empty `folder`, which then is mounted read-only as the first of PATH.

    `client` defaults to the compiled one, else the Python one. All names are one inode: that is how the
    client knows itself under any spelling. Raises FileExistsError if the folder holds such names already.
    """
    from shim.offline import table  # reads the whole grammar, which only the first start has to

    source = client or compiled_client() or client_source()
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    program = source.read_bytes()
    if not program.startswith(_ELF):
        _python_client(folder / ".client", program)
        program = Path(shim.__file__).with_name("stub.py").read_bytes()
    own = folder / f".{_NAME}"
    with own.open("xb") as file:
        file.write(program)
    own.chmod(0o555)
    names = sorted(set(tools))
    for name in names:
        os.link(own, folder / name)
    request = folder / "sekisho-request"
    request.write_bytes(client_source().with_name("request.py").read_bytes())
    request.chmod(0o555)
    (folder / ".offline").write_text(table(names))
    (folder / ".offline").chmod(0o444)
    lines = [f"{name} {words}" for name in names for words in OFTEN.get(name, ())]
    (folder / ".often").write_text("".join(f"{line}\n" for line in lines))
    (folder / ".often").chmod(0o444)


def _python_client(folder: Path, program: bytes) -> None:
    """The modules and their bytecode, by the interpreter that will run it; without that they still run."""
    folder.mkdir(mode=0o755)
    beside = {
        name: client_source().with_name(source).read_bytes()
        for name, source in (("sekisho_offline.py", "offline_client.py"), ("sekisho_watch.py", "watch.py"))
    }
    modules = {"sekisho_client.py": program, **beside}
    for name, content in modules.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o444)
    code = (
        "import py_compile, sys; mode = py_compile.PycInvalidationMode.UNCHECKED_HASH; "
        "[py_compile.compile(path, invalidation_mode=mode) for path in sys.argv[1:]]"
    )
    command = [INTERPRETER, "-IS", "-c", code, *(str(folder / name) for name in modules)]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, env={}, capture_output=True, timeout=30, check=False)
