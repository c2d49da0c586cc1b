"""The Docker engine of this machine: found, asked what it can do, its failures named within seconds."""

import contextlib
import os
import platform
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sandbox.docker import context
from sandbox.docker.failures import from_connection, from_engine, no_image, wrong_machine
from sandbox.docker.render import Image, Traits
from sandbox.errors import EnclosureError

OLDEST_API = (1, 41)  # Docker 20.10: a private control group namespace
PATIENCE = 6  # seconds for an answer; everything named within ten
SLOW = 120  # seconds for starting, removing and building on a busy disk
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """An engine that can enclose. `client` is the SDK's low-level client, `address` a path of a socket.

    `rootless`: root inside is the person. `limits` are those that it enforces.
    """

    client: Any
    address: str
    api: str
    init: bool
    rootless: bool
    remaps: bool
    limits: frozenset[str]

    @property
    def traits(self) -> Traits:
        """What rendering has to know."""
        return Traits(init=self.init, remaps=self.remaps)

    def identity(self) -> tuple[int, int]:
        """Uid and gid inside, such that files made there belong to the person who runs this."""
        return (0, 0) if self.rootless else (os.geteuid(), os.getegid())


def connect(environ: Mapping[str, str] | None = None, *, patience: float = PATIENCE) -> Engine:
    """Find the engine as the docker command would, and look at it. It has `patience` seconds for an answer.

    Raises EnclosureError.
    """
    address = socket_path(os.environ if environ is None else environ)
    _knock(address, patience)
    with named(address):
        from docker import APIClient
        from docker.constants import DEFAULT_DOCKER_API_VERSION

        with contextlib.closing(_client(APIClient, address, DEFAULT_DOCKER_API_VERSION, patience)) as asking:
            found = asking.version(api_version=False)
        api = min(str(found.get("ApiVersion", "0.0")), DEFAULT_DOCKER_API_VERSION, key=_numbers)
        if _numbers(api) < OLDEST_API:
            raise EnclosureError(
                "engine-too-old",
                f"The Docker engine {found.get('Version', '?')} speaks API {api}.",
                "API 1.41 is needed: install Docker 20.10 or newer.",
            )
        with contextlib.ExitStack() as failed:
            client = failed.enter_context(contextlib.closing(_client(APIClient, address, api, patience)))
            engine = _judged(client, address, api, client.info())
            failed.pop_all()
    return engine


def _knock(address: str, patience: float) -> None:
    """Whether anybody is there: the SDK would wrap the reason deeply, leave a socket open, and is slow to
    be imported where there is none."""
    with socket.socket(socket.AF_UNIX) as knocking:
        knocking.settimeout(patience)
        try:
            knocking.connect(address)
        except OSError as refused:
            raise from_connection(refused, address) from refused


def _client(factory: Any, address: str, version: str, patience: float) -> Any:
    return factory(base_url=f"unix://{address}", version=version, timeout=patience)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def socket_path(environ: Mapping[str, str]) -> str:
    """The path of the engine's socket: DOCKER_HOST, else the current context, else the usual places.

    Raises EnclosureError for an engine of another machine.
    """
    host = environ.get("DOCKER_HOST") or context.host(environ)
    if not host:
        host = "unix:///var/run/docker.sock"
        own = os.path.join(environ.get("XDG_RUNTIME_DIR", "/nonexistent"), "docker.sock")
        if not os.path.exists("/var/run/docker.sock") and os.path.exists(own):
            host = f"unix://{own}"
    if not host.startswith("unix://"):
        raise EnclosureError(
            "engine-remote",
            f"The Docker engine {host} is reached over a network.",
            "The workspace is mounted and sockets are handed over, so the engine must run on this machine: "
            "unset DOCKER_HOST, or `docker context use default`.",
        )
    return "/" + host.removeprefix("unix://").lstrip("/")


def _judged(client: Any, address: str, api: str, info: dict[str, Any]) -> Engine:
    _require_here(info)
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    if not any(option.startswith("name=seccomp") for option in options):
        raise EnclosureError(
            "engine-no-seccomp",
            "The Docker engine filters no system calls.",
            "Use an engine with seccomp, on a kernel with CONFIG_SECCOMP_FILTER.",
        )
    enforced = {"memory": "MemoryLimit", "pids": "PidsLimit", "cpus": "CpuCfsQuota"}
    return Engine(
        client=client,
        address=address,
        api=api,
        init=bool(info.get("InitBinary")),
        rootless=any("name=rootless" in option for option in options),
        remaps=any("name=userns" in option for option in options),
        limits=frozenset(name for name, key in enforced.items() if info.get(key)),
    )


def _require_here(info: Mapping[str, Any]) -> None:
    """An engine in a virtual machine has another kernel: neither folders nor sockets are ours to share."""
    system = f"{info.get('OperatingSystem', '?')}, kernel {info.get('KernelVersion', '?')}"
    elsewhere = info.get("KernelVersion") != platform.release() or "Docker Desktop" in system
    if info.get("OSType") != "linux" or elsewhere:
        raise EnclosureError(
            "engine-elsewhere",
            f"The Docker engine runs on another system: {system}.",
            "Use an engine of this very machine (Docker Engine, not Docker Desktop), or --backend bwrap.",
        )


def inspect(engine: Engine, name: str) -> Image:
    """An image that is there and made for this machine. Raises EnclosureError; nothing is pulled."""
    with named(engine.address):
        from docker.errors import ImageNotFound

        try:
            found = engine.client.inspect_image(name)
        except ImageNotFound as missing:
            raise no_image(name) from missing
    architecture = found.get("Architecture") or ""
    if architecture and architecture != ARCHITECTURES.get(platform.machine(), platform.machine()):
        raise wrong_machine(name, architecture, platform.machine())
    config = found.get("Config") or {}
    pairs = [str(entry).partition("=") for entry in config.get("Env") or ()]
    return Image(
        id=found["Id"],
        env={key: value for key, _, value in pairs},
        volumes=tuple(config.get("Volumes") or ()),
    )


@contextlib.contextmanager
def patient(engine: Engine, seconds: float = SLOW) -> Iterator[None]:
    """For calls that a busy disk may keep from answering soon."""
    before, engine.client.timeout = engine.client.timeout, seconds
    try:
        yield
    finally:
        engine.client.timeout = before


@contextlib.contextmanager
def named(address: str, name: str = "") -> Iterator[None]:
    """Turn the SDK's exceptions into EnclosureError; `name` is the image's that the call is about."""
    from docker.errors import APIError, DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except APIError as error:
        raise from_engine(str(error.explanation or error), image=name) from error
    except (DockerException, RequestException, OSError) as error:
        raise from_connection(error, address) from error
