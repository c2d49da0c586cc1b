"""The npm package @anthropic-ai/sandbox-runtime, installed into a cache for the comparison."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

from bench.measure import NotAvailable

# The package wants a newer Node than distributions ship; npm has that one, too.
_PACKAGES = ["@anthropic-ai/sandbox-runtime", "node@22"]
_SETTINGS = {
    "network": {"allowedDomains": ["example.com"], "deniedDomains": []},
    "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []},
}


@cache
def sandbox_runtime(folder: Path) -> tuple[str, ...]:
    """The words before the command to run. Raises NotAvailable, saying what is missing."""
    for tool in ("npm", "socat", "rg", "bwrap"):
        if shutil.which(tool) is None:
            raise NotAvailable(f"{tool} is not installed")
    entry = folder / "node_modules" / "@anthropic-ai" / "sandbox-runtime" / "dist" / "cli.js"
    if not entry.exists():
        _install(folder)
    settings = folder / "settings.json"
    settings.write_text(json.dumps(_SETTINGS))
    node = folder / "node_modules" / ".bin" / "node"
    return (str(node), str(entry), "--settings", str(settings))


def _install(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    argv = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *_PACKAGES]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        raise NotAvailable("npm could not install it")
