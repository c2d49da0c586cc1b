"""What the engine's failures mean, and what to do about each. Pure."""

import errno

from sandbox.errors import EnclosureError

OURS = "sekisho/"  # how the names of the images begin that `sekisho image build` makes

UNSEEN = (
    "The engine does not see that folder: it is another machine's, or confined (snap, PrivateTmp). "
    "Use an engine of this very machine, or set TMPDIR and SEKISHO_HOME to folders it sees."
)

# Parts of the engine's messages, lower case; the first that is found decides.
SAYS = (
    (
        "mounts denied",
        "bind-refused",
        "Share that folder in the engine's settings, or use an engine of this machine.",
    ),
    (
        "bind source path does not exist",
        "bind-refused",
        UNSEEN,
    ),
    (
        "exec format error",
        "image-architecture",
        "Use an image made for this machine.",
    ),
    (
        'exec: "/bin/sh"',
        "image-no-shell",
        "The image needs /bin/sh; one without a shell cannot run an agent.",
    ),
    (
        "/bin/sh failed: no such file",
        "image-no-shell",
        "The image needs /bin/sh; one without a shell cannot run an agent.",
    ),
    (
        "docker-init",
        "engine-no-init",
        "Install the engine's init (package `tini` or `docker-init`).",
    ),
    (
        "no such image",
        "image-missing",
        "`docker images` shows which are there, `sekisho image list` those that sekisho makes.",
    ),
    (
        "no space left",
        "engine-disk-full",
        "`docker system df` shows what fills the disk, `docker system prune` frees some.",
    ),
    (
        "read-only file system",
        "mount-missing",
        "A place to mount on is missing in a folder that is mounted read-only.",
    ),
    (
        "not a directory",
        "mount-missing",
        "A folder would be mounted on a file of the image, or a file on a folder.",
    ),
    (
        "seccomp",
        "seccomp-refused",
        "The engine could not use the system call filter: runc 1.0 or newer is needed.",
    ),
    (
        "cgroup",
        "engine-limits",
        "The engine cannot enforce limits here: leave them out, or mend its control groups.",
    ),
)
LOOK = "`docker info` and the engine's log say more."


def from_engine(message: str, *, image: str = "") -> EnclosureError:
    """What an answer of the engine means."""
    words = " ".join(message.split())[:500]
    about = f" for image {image}" if image else ""
    for part, code, instead in SAYS:
        if part in message.lower():
            return EnclosureError(code, f"The Docker engine refused{about}: {words}.", instead)
    return EnclosureError("engine-refused", f"The Docker engine refused{about}: {words}.", LOOK)


def from_connection(error: BaseException, address: str) -> EnclosureError:
    """Why the engine could not be talked to."""
    numbers = {cause.errno for cause in _causes(error) if isinstance(cause, OSError)}
    words = " ".join(str(error).split())[:200]
    if numbers & {errno.EACCES, errno.EPERM}:
        return EnclosureError(
            "engine-permission",
            f"The Docker engine's socket {address} may not be used by this user.",
            "Join its group (often `docker`, then log in anew), or run a rootless engine. "
            "Who may use that socket is as good as root.",
        )
    if numbers & {errno.ENOENT, errno.ECONNREFUSED, errno.ENOTSOCK, errno.ENOTDIR}:
        return EnclosureError(
            "engine-unreachable",
            f"No Docker engine answers at {address}.",
            "Start it (`systemctl start docker`), or set DOCKER_HOST to its socket.",
        )
    if any("timed out" in str(cause).lower() for cause in _causes(error)):
        return EnclosureError(
            "engine-hangs", f"The Docker engine at {address} does not answer in time.", "Restart it."
        )
    if "version" in words.lower():
        return EnclosureError(
            "engine-too-old", f"The Docker engine at {address}: {words}.", "Docker 20.10 or newer is needed."
        )
    return EnclosureError("engine-broken", f"Talking to the Docker engine at {address}: {words}.", LOOK)


def _causes(error: BaseException) -> list[BaseException]:
    """The error and all that lies in or behind it: libraries wrap an OSError several times."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting and len(found) < 50:
        here = waiting.pop()
        if isinstance(here, BaseException) and here not in found:
            found.append(here)
            waiting += [here.__cause__, here.__context__, getattr(here, "reason", None), *here.args]
    return found


def no_image(name: str) -> EnclosureError:
    """An image that is not there."""
    return EnclosureError(
        "image-missing",
        f"The image {name} is not on this machine.",
        _way_to(name),
    )


def _way_to(name: str) -> str:
    if not name.startswith(OURS):
        return f"`docker images` shows which are there; `docker pull {name}` fetches it from a registry."
    variant = name.removeprefix(OURS).partition(":")[0]
    return f"`sekisho image build --variant {variant} --from-packages` makes it from Debian packages."


def wrong_machine(name: str, architecture: str, machine: str) -> EnclosureError:
    """An image for another processor."""
    return EnclosureError(
        "image-architecture",
        f"The image {name} is made for {architecture}, this machine is {machine}.",
        "Use an image made for this machine.",
    )


def entry_failed(image: str, status: int | None, said: str) -> EnclosureError:
    """The container ended before its command was entered."""
    words = " ".join(said.split())[:500] or "(no message)"
    for part, code, instead in SAYS:
        if "docker-init" not in part and part in said.lower():
            return EnclosureError(code, f"The image {image} cannot be entered: {words}.", instead)
    return EnclosureError(
        "entry-failed",
        f"The container of {image} ended with status {status} before the command was entered: {words}.",
        "The image needs a working /bin/sh for this machine: `docker run --rm --entrypoint /bin/sh IMAGE`.",
    )
