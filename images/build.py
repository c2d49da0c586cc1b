"""Builds an image: with the engine from a Dockerfile, or from Debian packages without a public image."""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from images import archive
from images.variants import FOLDER, LABEL, PACKAGES_LABEL, SUITE, Variant, packages_of, removed_tools
from sandbox.docker.engine import ARCHITECTURES, Engine, named, patient
from sandbox.errors import EnclosureError

EPOCH = 1_700_000_000  # when everything in an image was made, so that the same packages give the same digest
PATIENCE = 3600.0  # seconds

Say = Callable[[str], None]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What to build. `extra` are a person's own package lists; `arguments` go to the Dockerfile, `network` is
    the one its steps have; `mirror` is for packages, None being what mmdebstrap takes by itself."""

    variant: Variant
    tag: str
    extra: tuple[Path, ...] = ()
    arguments: dict[str, str] = {}
    network: str | None = None
    suite: str = SUITE
    mirror: str | None = None


def from_dockerfile(engine: Engine, wanted: Wanted, say: Say) -> str:
    """Build by the variant's Dockerfile; the image's id. Raises EnclosureError."""
    found = ""
    with named(engine.address, wanted.tag):
        answers = engine.client.build(
            path=str(FOLDER),
            dockerfile=wanted.variant.dockerfile,
            tag=wanted.tag,
            buildargs=wanted.arguments,
            network_mode=wanted.network,
            rm=True,
            forcerm=True,
            decode=True,
            timeout=int(PATIENCE),
        )
        for answer in answers:
            if "error" in answer:
                raise EnclosureError(
                    "image-build-failed",
                    f"Building {wanted.tag}: {answer['error']}",
                    "Without a registry to fetch the first image from: --from-packages.",
                )
            if text := str(answer.get("stream", "")).rstrip():
                say(text)
            found = str((answer.get("aux") or {}).get("ID", found))
    return found


def from_packages(engine: Engine, wanted: Wanted, say: Say, keep: Path | None = None) -> str:
    """Build from Debian packages with mmdebstrap; the image's id. `keep` is a file for the archive, to be
    loaded again later. Raises EnclosureError, ValueError and OSError for the lists."""
    names = packages_of(wanted.variant, wanted.extra)
    with tempfile.TemporaryDirectory(prefix="sekisho-image-") as folder:
        root, packed = Path(folder, "root.tar"), Path(folder, "image.tar")
        _bootstrap(names, wanted, root, say)
        labels = {
            LABEL: wanted.variant.name,
            PACKAGES_LABEL: hashlib.sha256("\n".join(names).encode()).hexdigest(),
        }
        machine = platform.machine()
        architecture = ARCHITECTURES.get(machine, machine)
        identity = archive.write(
            packed, root, tag=wanted.tag, architecture=architecture, epoch=EPOCH, labels=labels
        )
        load(engine, packed)
        if keep is not None:
            shutil.move(packed, keep)
    return identity


def load(engine: Engine, packed: Path) -> None:
    """Give an archive to the engine. Raises EnclosureError."""
    with named(engine.address), patient(engine, PATIENCE), packed.open("rb") as content:
        for answer in engine.client.load_image(content) or ():
            if "error" in answer:
                raise EnclosureError(
                    "image-build-failed", f"Loading: {answer['error']}", "`docker system df`"
                )


def _bootstrap(names: Sequence[str], wanted: Wanted, root: Path, say: Say) -> None:
    program = shutil.which("mmdebstrap")
    if program is None:
        raise EnclosureError(
            "mmdebstrap-missing", "mmdebstrap was not found on PATH.", "Install it (package `mmdebstrap`)."
        )
    argv = [program, *options(names), wanted.suite, str(root)]
    if wanted.mirror is not None:
        argv.append(wanted.mirror)
    say(f"installing {len(names)} packages of {wanted.suite} and what they need")
    environment = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    environment |= {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "TMPDIR": str(root.parent),
        "LC_ALL": "C.UTF-8",
        "SOURCE_DATE_EPOCH": str(EPOCH),
    }
    done = subprocess.run(
        argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    if done.returncode:
        last = " ".join(done.stderr.split())[-600:]
        raise EnclosureError(
            "image-build-failed",
            f"mmdebstrap ended with {done.returncode}: {last}.",
            "Are the names in the lists packages of that suite, and is a mirror reached (--mirror)?",
        )


def options(names: Sequence[str]) -> list[str]:
    """mmdebstrap's: no documentation, no logs, no setuid program, none of the tools that are absent."""
    without = [f"path-exclude=/usr/share/{name}/*" for name in ("man", "doc", "info", "locale", "lintian")]
    removed = " ".join(f'"$1/{path}"' for path in removed_tools())
    hooks = [
        'find "$1" -xdev -perm /6000 -type f -exec chmod a-s {} +',
        f"rm -f {removed}",
        'rm -rf "$1"/var/log "$1"/var/cache "$1"/var/lib/apt/lists "$1"/tmp/* "$1"/etc/machine-id',
        'mkdir -p "$1"/var/log "$1"/var/cache',
    ]
    return [
        "--quiet",
        "--variant=essential",
        "--format=tar",
        "--skip=output/dev",
        f"--include={','.join(names)}",
        *(f"--dpkgopt={option}" for option in without),
        *(f"--customize-hook={hook}" for hook in hooks),
    ]
