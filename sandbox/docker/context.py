"""The docker command's current context, read from its files: the SDK's own reader looks once, when imported.

Format: `config.json` and `contexts/meta/<sha256 of the name>/meta.json` below ~/.docker (docs.docker.com,
"Docker contexts").
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.errors import EnclosureError


def host(environ: Mapping[str, str]) -> str:
    """The host of the chosen context, "" for the default one. Raises EnclosureError for one that has none."""
    folder = Path(
        environ.get("DOCKER_CONFIG") or os.path.join(environ.get("HOME", "/nonexistent"), ".docker")
    )
    name = environ.get("DOCKER_CONTEXT") or _read(folder / "config.json").get("currentContext") or "default"
    if name == "default":
        return ""
    meta = folder / "contexts" / "meta" / hashlib.sha256(str(name).encode()).hexdigest() / "meta.json"
    found = _read(meta).get("Endpoints", {}).get("docker", {}).get("Host")
    if not found:
        raise EnclosureError(
            "engine-unreachable",
            f"The docker context {name} names no engine ({meta}).",
            "`docker context ls` shows those there are; `docker context use default` chooses this machine's.",
        )
    return str(found)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
