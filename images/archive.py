"""An image archive that says the same for the same root file system: what `docker load` reads.

`docker import` would put the time into the image, and its digest would be another one each time. Format:
OCI image specification, "config"; moby's image/spec v1.2 (manifest.json).
"""

import hashlib
import io
import json
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def write(
    archive: Path, root: Path, *, tag: str, architecture: str, epoch: int, labels: Mapping[str, str]
) -> str:
    """Pack the tar file `root` as the only layer; the image's id. `epoch` in seconds is when it was made."""
    layer = _digest(root)
    config = json.dumps(
        {
            "architecture": architecture,
            "os": "linux",
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "config": {"Env": [f"PATH={PATH}"], "Cmd": ["/bin/bash"], "Labels": dict(sorted(labels.items()))},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
            "history": [{"created_by": "sekisho image build"}],
        },
        sort_keys=True,
    ).encode()
    identity = hashlib.sha256(config).hexdigest()
    full = tag if ":" in tag.rpartition("/")[2] else f"{tag}:latest"
    manifest = [{"Config": f"{identity}.json", "RepoTags": [full], "Layers": [f"{layer}/layer.tar"]}]
    with tarfile.open(archive, "w") as tar:
        _add(tar, f"{identity}.json", config)
        _add(tar, f"{layer}/json", json.dumps({"id": layer}).encode())
        _add(tar, f"{layer}/VERSION", b"1.0")
        info = tarfile.TarInfo(f"{layer}/layer.tar")
        info.size = root.stat().st_size
        with root.open("rb") as content:
            tar.addfile(info, content)
        _add(tar, "manifest.json", json.dumps(manifest).encode())
    return f"sha256:{identity}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))
