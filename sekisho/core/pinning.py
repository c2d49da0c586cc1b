"""What a policy is known by: the files that decide with it, and one digest over them all."""

import hashlib
from collections.abc import Mapping

from sekisho.core.policy import Policy


def named_files(policy: Policy) -> tuple[str, ...]:
    """Files whose content decides what the policy permits, as they are named, sorted.

    The checklist and the advice are not among them: both change in daily work and permit nothing.
    """
    commands = [rule.match for rule in policy.command] + list(policy.done.checks)
    commands += [argv for tool in policy.tool for argv in (tool.dry_run, tool.rollback) if argv]
    found = {argv[0] for argv in commands if is_script(argv[0])}
    found |= {tool.schema for tool in policy.tool if tool.schema}
    if policy.network.ca:
        found.add(policy.network.ca)
    return tuple(sorted(found))


def digest(text: bytes | str, files: Mapping[str, bytes]) -> str:
    """`sha256:` and hex over the text and the files it names; a missing file is left out of `files`."""
    total = hashlib.sha256(b"sekisho policy v1\x00")
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    for part in (raw, *(part for name in sorted(files) for part in (name.encode(), files[name]))):
        total.update(len(part).to_bytes(8, "big") + part)
    return f"sha256:{total.hexdigest()}"


def is_script(word: str) -> bool:
    """Whether a command's first word is a file of the project."""
    return "/" in word and not word.startswith(("/", "~"))
