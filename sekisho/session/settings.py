"""Reads the layers of policy from disk and pins them: what a session is judged by, from start to end."""

import os
import stat
from pathlib import Path

import msgspec

from sekisho.core.merge import merge
from sekisho.core.pinning import digest, named_files
from sekisho.core.policy import Policy
from sekisho.core.problem import PolicyError, Problem
from sekisho.store.paths import config_dir

PROJECT_FILE = "sekisho.toml"
PERSON_FILE = "config.toml"
LARGEST_NAMED = 4 << 20  # bytes of a file that a policy names


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """One policy file as it was read. `digest` covers its text and the files it names."""

    path: Path
    text: bytes
    policy: Policy
    digest: str


class Pinned(msgspec.Struct, frozen=True, kw_only=True):
    """The merged policy of a session. `digest` names all its layers; `ca` is the PEM text it trusts."""

    policy: Policy
    digest: str
    layers: tuple[Layer, ...]
    ca: bytes | None = None


def read_layer(path: Path, *, person: bool = False) -> Layer:
    """Read and check one policy file. Raises PolicyError, also where it cannot be read at all."""
    # What reads and checks a text is loaded where there is one.
    from sekisho.core.load import LARGEST, parse

    text = _read(path, LARGEST)
    policy = parse(text, str(path), person=person)
    if any(entry.profile for entry in policy.network.host):
        from netpolicy.kinds import JUDGES  # every kind of service, which few policies name

        policy = parse(text, str(path), person=person, profiles=JUDGES)
    files = {
        name: _read(path.parent / name, LARGEST_NAMED) for name in named_files(policy) if _there(path, name)
    }
    if policy.network.ca:
        if policy.network.ca not in files:
            raise _unreadable(path.parent / policy.network.ca, "it is named as `network.ca` and is not there")
        where = str((path.parent / policy.network.ca).absolute())
        policy = msgspec.structs.replace(policy, network=msgspec.structs.replace(policy.network, ca=where))
    return Layer(path=path, text=text, policy=policy, digest=digest(text, files))


def person_layer() -> Layer | None:
    """The person's own config, if there is one. Raises PolicyError."""
    path = config_dir() / PERSON_FILE
    return read_layer(path, person=True) if os.path.lexists(path) else None


def project_layer(project: Path) -> Layer | None:
    """The project's own policy, if there is one; whether it is trusted is not asked here."""
    path = project / PROJECT_FILE
    return read_layer(path) if os.path.lexists(path) else None


def pin(person: Layer | None, project: Layer | None, options: Policy | None = None) -> Pinned:
    """Merge the layers. Raises PolicyError where the merged authority file cannot be read."""
    own, theirs = (layer.policy if layer is not None else None for layer in (person, project))
    policy = merge(own, theirs, options)
    layers = tuple(layer for layer in (person, project) if layer is not None)
    ca = _read(Path(policy.network.ca), LARGEST_NAMED) if policy.network.ca else None
    named = digest(encode(policy), {layer.digest: layer.text for layer in layers})
    return Pinned(policy=policy, digest=named, layers=layers, ca=ca)


def encode(policy: Policy) -> bytes:
    """The merged policy as JSON, for the gatekeeper and for holds that outlive the session."""
    return msgspec.json.encode(policy)


def decode(data: bytes) -> Policy:
    """Raises msgspec.DecodeError or msgspec.ValidationError."""
    return msgspec.json.decode(data, type=Policy)


def _there(path: Path, name: str) -> bool:
    return os.path.lexists(path.parent / name)


def _read(path: Path, limit: int) -> bytes:
    """A regular file of at most `limit` bytes; never waits on a FIFO or device."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise _unreadable(path, "it is not a regular file")
        if info.st_size > limit:
            raise _unreadable(path, f"it has {info.st_size} bytes; at most {limit} are read")
        with open(fd, "rb", closefd=False) as file:
            return file.read(limit + 1)
    finally:
        os.close(fd)


def _unreadable(path: Path, why: str) -> PolicyError:
    return PolicyError((Problem(file=str(path), line=0, message=f"cannot be read: {why}", hint=""),))
