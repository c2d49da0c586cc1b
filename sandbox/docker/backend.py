"""Docker as a sandbox.backend.Backend."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sandbox import credentials, toolchain, trusting
from sandbox.backend import Tools, ToolsWanted
from sandbox.descriptors import Stdio
from sandbox.docker import tools as image_tools
from sandbox.docker.base import base_mounts, image_environment
from sandbox.docker.choosing import Chosen
from sandbox.docker.engine import Engine
from sandbox.docker.launch import start
from sandbox.running import Running
from sandbox.spec import Enclosure, Limits, Mount, MountKind


class Docker:
    """An engine and an image."""

    name = "docker"

    def __init__(
        self, engine: Engine, chosen: Chosen, instance: str, *, why: str, notes: tuple[str, ...] = ()
    ) -> None:
        self.engine, self.chosen, self.instance = engine, chosen, instance
        self.why, self.notes = why, notes
        self.image: str | None = chosen.name

    def identity(self) -> tuple[int, int]:
        """The person's own numbers; with a rootless engine root, which is the person outside."""
        return self.engine.identity()

    def base(self, *, home: str, uid: int, gid: int, tmp_size: int, home_size: int) -> tuple[Mount, ...]:
        """The image is the system."""
        return base_mounts(home=home, uid=uid, gid=gid, tmp_size=tmp_size, home_size=home_size)

    def tools(self, wanted: ToolsWanted) -> Tools:
        """The image's own, and what policy lists of this machine: its programs may not run in the image."""
        named = [toolchain.listed(path, wanted.home) for path in wanted.extra]
        roots = [root for root in named if os.path.exists(root)]
        listed = [Mount(kind=MountKind.RO, source=root, target=root) for root in roots]
        return Tools(
            mounts=(*listed, *credentials.masks(roots, wanted.home)),
            on_top=image_tools.mounts(self.chosen, keep=wanted.keep, only=wanted.only),
            path=image_tools.path(self.chosen, first=wanted.first, only=wanted.only),
            env=image_environment(self.chosen.env),
        )

    def trust(self, files: Path, *, home: str) -> Sequence[Mount]:
        """Wherever any system keeps them: what is missing in the image is made in the container."""
        return tuple(trusting.mounts(files, home))

    def watched(self, limits: Limits) -> Limits:
        """The time, and what this engine cannot enforce."""
        ours = dict.fromkeys(self.engine.limits)
        return msgspec.structs.replace(limits, **ours)

    def start(
        self,
        spec: Enclosure,
        *,
        ports: tuple[int, ...] = (),
        stdio: Stdio | None = None,
        session: str = "",
        scratch: Path | None = None,
    ) -> Running:
        """See sandbox.docker.launch.start."""
        enforced = {n: getattr(spec.limits, n) for n in self.engine.limits}
        return start(
            msgspec.structs.replace(spec, limits=Limits(**enforced)),
            engine=self.engine,
            image=self.chosen,
            instance=self.instance,
            session=session,
            ports=ports,
            stdio=stdio,
            scratch=scratch,
        )
