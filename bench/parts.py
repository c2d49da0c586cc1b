"""Two parts of a session's start by themselves: the clone, and the sandbox with its network prepared."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import seconds
from sandbox.base import base_mounts, look_at_system
from sandbox.descriptors import Stdio
from sandbox.launch import start
from sandbox.spec import Enclosure, Mount, MountKind
from sandbox.workspace.creating import create


def clone(repository: Path, folder: Path) -> Callable[[], float]:
    """The clone of a session, beginning with a look at the repository."""

    def measured() -> float:
        target = Path(tempfile.mkdtemp(dir=folder))
        return seconds(lambda: create(repository, target / "tree", f"bench-{target.name}"))

    return measured


def sandbox(repository: Path, argv: list[str]) -> Callable[[], float]:
    """From the launcher's fork to the command's first output. The base view and the tree are mounted."""
    tree = Mount(kind=MountKind.RW, source=str(repository), target=str(repository))
    spec = Enclosure(
        argv=tuple(argv),
        workdir=str(repository),
        mounts=(*base_mounts(look_at_system()), tree),
        env={"PATH": "/usr/bin:/bin"},
        network="prepared",
    )

    def measured() -> float:
        reading, writing = os.pipe()
        with open(reading, "rb", buffering=0) as output, open(writing, "wb", buffering=0) as end:
            began = time.perf_counter()
            with start(spec, stdio=Stdio(stdout=end.fileno())) as running:
                running.release()
                output.read(1)
                taken = time.perf_counter() - began
                running.wait(60)
        return taken

    return measured
