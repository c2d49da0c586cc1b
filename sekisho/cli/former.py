"""What changed in a policy file since it was trusted, where the repository's own commits have that version.

Trust keeps a digest and no text. A version of the file that has this digest is the one that was trusted,
whoever committed it.
"""

import difflib
from collections.abc import Iterator
from pathlib import Path

from sekisho.cli.show import block, local
from sekisho.core.pinning import digest, named_files
from sekisho.core.problem import PolicyError
from sekisho.session.settings import Layer
from sekisho.store.trust import Trusted

MOST_VERSIONS = 50
MOST_LINES = 5000  # to be compared: more than a person reads, and soon more than a moment


def show_to_trust(layer: Layer, last: Trusted | None) -> None:
    """Print what a person has to read: what has changed, where that can be told, else the whole file."""
    changed = changes(layer, last.digest) if last is not None else None
    if last is None:
        print(f"{layer.path} was never trusted:")
    else:
        rest = "this is what has changed" if changed else "that version is not at hand, so this is all of it"
        print(f"{layer.path} was trusted in another version on {local(last.time)}; {rest}:")
    block(changed or layer.text.decode(errors="replace"), diff=changed is not None)


def changes(layer: Layer, trusted: str) -> str | None:
    """A unified diff from the version with the digest `trusted`; None where that is found nowhere, or where
    the text is the same and a file that it names has changed."""
    before = next((text for text in _versions(layer.path) if _is(text, layer, trusted)), None)
    if before is None or before == layer.text:
        return None
    old, new = (text.decode(errors="replace").splitlines() for text in (before, layer.text))
    if len(old) + len(new) > MOST_LINES:
        return None
    return "\n".join(difflib.unified_diff(old, new, "as you trusted it", "as it is now", lineterm=""))


def _versions(path: Path) -> Iterator[bytes]:
    """The file in the latest commits that touch it, on whatever branch."""
    done = _git(path, "rev-list", f"--max-count={MOST_VERSIONS}", "--all", "--", path.name)
    for commit in (done or b"").decode().split():
        if (text := _git(path, "cat-file", "blob", f"{commit}:./{path.name}")) is not None:
            yield text


def _is(text: bytes, layer: Layer, trusted: str) -> bool:
    """Whether a text, with the files that it names as they are now, is what was trusted.

    Only files that the policy names now are read: that has been done with this one, so none keeps us waiting.
    """
    from sekisho.core.load import LARGEST, parse

    folder = layer.path.parent
    try:
        names = named_files(parse(text, str(layer.path))) if len(text) <= LARGEST else ()
        if not {*names} <= {*named_files(layer.policy), *_own_authority(layer)}:
            return False
        files = {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}
    except (PolicyError, OSError):
        return False
    return digest(text, files) == trusted


def _own_authority(layer: Layer) -> tuple[str, ...]:
    """The authority's file as the policy names it: a layer has its whole path."""
    named = layer.policy.network.ca
    folder = layer.path.parent.absolute()
    return (str(Path(named).relative_to(folder)),) if named and Path(named).is_relative_to(folder) else ()


def _git(path: Path, *words: str) -> bytes | None:
    from sandbox.workspace.git import GitError, attempt

    try:
        done = attempt(path.parent, *words)
    except (GitError, OSError):
        return None
    return done.stdout if done.returncode == 0 else None
