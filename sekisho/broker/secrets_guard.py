"""Before a commit: what it would bring is scanned for secrets, and the refusal names file and line.

A look that fails or meets a limit lets the commit run, on record: it is local, and what a push would send
is scanned in full where it leaves.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

from sandbox.checkpoint.model import CheckpointError, Subject
from sandbox.errors import EnclosureError
from sandbox.workspace.commitline import parse
from sandbox.workspace.git import GitError
from sandbox.workspace.scanning import Finding
from sandbox.workspace.staged import staged_secrets
from sekisho.core.action import Action
from sekisho.core.display import one_line
from sekisho.core.refusal import Refusal, standard
from shim.protocol import Asked

CODE = "secret-in-commit"
INSTEAD = (
    "take it out (`git restore --staged FILE`, or edit the line and `git add` it again), read it from an "
    "environment variable instead, and name the file in .gitignore; if it is no secret, say so in the handoff"
)
_SHOWN = 3

Note = Callable[[str, str, dict[str, Any]], bool]


class SecretsGuard:
    """The guard of one session, for `announced.Announcements`. `subject` gives what is committed from."""

    def __init__(self, project: str, subject: Callable[[], Subject], note: Note) -> None:
        self._project, self._subject, self._note = project, subject, note

    async def guard(self, asked: Asked, action: Action) -> Refusal | None:
        """The refusal of a commit with secrets; None for everything else."""
        if asked.argv[0].rpartition("/")[2] != "git" or parse(asked.argv) is None:
            return None
        return await asyncio.to_thread(self._scan, asked)

    def _scan(self, asked: Asked) -> Refusal | None:
        words = " ".join(asked.argv)
        folder = os.path.relpath(asked.cwd, self._project)
        try:
            seen = staged_secrets(self._subject(), asked.argv, "" if folder == "." else folder)
        except (GitError, EnclosureError, CheckpointError, OSError, ValueError) as error:
            self._note("commit.unscanned", one_line(words, 200), {"reason": str(error)[:500]})
            return None
        if not seen.findings:
            if not seen.complete:
                self._note("commit.unscanned", one_line(words, 200), {"reason": "; ".join(seen.notes)})
            return None
        self._note("commit.refused", one_line(words, 200), {"findings": [_place(f) for f in seen.findings]})
        return standard(CODE, words, why=_why(seen.findings), instead=INSTEAD)


def _why(findings: tuple[Finding, ...]) -> str:
    shown = ", ".join(_place(finding) for finding in findings[:_SHOWN])
    more = f" and {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else ""
    return f"it contains what looks like a secret: {shown}{more}"


def _place(finding: Finding) -> str:
    path = one_line(os.fsencode(finding.path).decode("utf-8", "replace"), 200) or "the message"
    where = f"{path}:{finding.line}" if finding.line else path
    return f"{where} ({finding.rule})"
