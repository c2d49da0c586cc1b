"""Policy text to `Policy`: all problems at once, each with file, line and the nearest right name."""

import re
import tomllib
from collections.abc import Collection, Mapping
from typing import Any

from sekisho.core.checks import contradictions
from sekisho.core.layout import KeyPath, key_lines
from sekisho.core.policy import Policy, Rule
from sekisho.core.problem import PolicyError, Problem, nearest
from sekisho.core.shape import Reader

LARGEST = 1 << 20
"""Bytes of the longest policy text."""

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_TWICE = ("Cannot overwrite a value", "Cannot declare", "Duplicate inline table key", "Cannot mutate")


def parse(text: bytes | str, source: str, *, person: bool = False, profiles: Collection[str] = ()) -> Policy:
    """The policy of a text. `source` names it in messages and rules.

    `person` says that it is the person's own config, where `[locked]` and `[allow]` may stand.
    `profiles`, if given, are the known names of host profiles. Raises `PolicyError`.
    """
    decoded = _decoded(text, source)
    tree = _tree(decoded, source)
    reader = Reader(source, _lines(decoded), person=person)
    if "version" not in tree:
        reader.note((), "version is missing", "begin with version = 1")
    return _finished(reader, tree, profiles)


def from_tree(tree: Mapping[str, Any], source: str) -> Policy:
    """The policy of values that are not from a text, such as options. Raises `PolicyError`."""
    return _finished(Reader(source, {}, person=False), tree, ())


def _finished(reader: Reader, tree: Mapping[str, Any], profiles: Collection[str]) -> Policy:
    policy = reader.policy(tree)
    for finding in contradictions(policy):
        _note(reader, finding.where, finding.message, finding.hint)
    for entry in policy.network.host:
        if profiles and entry.profile is not None and entry.profile not in profiles:
            _note(
                reader, entry, f"there is no profile {entry.profile!r}", nearest(entry.profile, [*profiles])
            )
    if reader.problems:
        raise PolicyError(tuple(sorted(reader.problems, key=lambda problem: problem.line)))
    return policy


def _note(reader: Reader, where: Rule | KeyPath, message: str, hint: str) -> None:
    if isinstance(where, Rule):
        line = where.source.rpartition(":")[2]
        reader.problems.append(Problem(file=reader.source, line=int(line), message=message, hint=hint))
    else:
        reader.note(where, message, hint)


def _refuse(source: str, line: int, message: str, hint: str = "") -> PolicyError:
    return PolicyError((Problem(file=source, line=line, message=message, hint=hint),))


def _decoded(text: bytes | str, source: str) -> str:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    if len(text) > LARGEST:
        raise _refuse(source, 0, f"the text has {len(text)} bytes", f"at most {LARGEST} are read")
    if text.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise _refuse(source, 1, "the text begins with a byte order mark", "save it as UTF-8 without one")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise _refuse(
            source, line, f"byte {text[error.start]:#04x} is not UTF-8", "save it as UTF-8"
        ) from None
    if not decoded.strip():
        raise _refuse(source, 0, "the text is empty", "begin with version = 1")
    return decoded.replace("\r\n", "\n")


def _tree(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        place = _PLACE.search(str(error))
        message = _PLACE.sub("", str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 0
        hint = "this key or table stands twice; keep one" if message.startswith(_TWICE) else ""
        raise _refuse(source, line, f"not TOML: {message[:1].lower()}{message[1:]}", hint) from None
    except RecursionError:
        raise _refuse(source, 0, "the text is nested too deeply") from None


def _lines(text: str) -> dict[KeyPath, int]:
    try:
        return key_lines(text)
    except RecursionError:
        return {}
