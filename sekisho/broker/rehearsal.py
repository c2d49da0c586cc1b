"""What a tool's rule says of an act beyond its gate: how it is taken back, and the dry run it requires.

The dry run happens here, on the agent's tree as it is, before a hold is made: what the agent says of a run of
its own proves nothing. Its command comes from the policy and runs where nothing can come of it: without
network, without the person's home, on a read-only view of the tree.
"""

import shlex
import subprocess
from pathlib import Path

from sandbox import throwaway
from sandbox.errors import EnclosureError
from sandbox.exchange import OutputLimitExceeded
from sekisho.broker.rates import denied
from sekisho.core.policy import Policy, Tool
from sekisho.core.rules import tool_rules
from sekisho.core.verdict import Decision

TIMEOUT = 120.0  # seconds
SHOWN = 8 * 1024  # characters of its output, from the end
# Runs inside: names, modes and contents of all files, in one digest. Links are not followed.
_DIGEST = """
import hashlib, os, stat
total = hashlib.sha256()
for folder, folders, files in os.walk(b"."):
    folders[:] = sorted(name for name in folders if name != b".git")
    for name in sorted(files) + folders:
        path = os.path.join(folder, name)
        info = os.lstat(path)
        total.update(path + b"\\0%o\\0" % info.st_mode)
        if stat.S_ISLNK(info.st_mode):
            total.update(os.readlink(path) + b"\\0")
        elif stat.S_ISREG(info.st_mode):
            content = hashlib.sha256()
            with open(path, "rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    content.update(block)
            total.update(content.digest())
print(total.hexdigest())
"""


def required(policy: Policy, decision: Decision) -> list[Tool]:
    """The rules that ask for a dry run of this act."""
    return [rule for rule in _rules(policy, decision) if rule.requires_dry_run]


def _rules(policy: Policy, decision: Decision) -> tuple[Tool, ...]:
    name = decision.action.detail.get("tool")
    return tool_rules(policy, name).deciding if isinstance(name, str) else ()


def rollbacks(policy: Policy, decision: Decision) -> tuple[str, ...]:
    """The commands that take this act back, as the policy says; nobody runs them but the person."""
    return tuple(shlex.join(rule.rollback) for rule in _rules(policy, decision) if rule.rollback)


def rehearse(policy: Policy, tree: Path, decision: Decision) -> dict[str, object] | Decision:
    """What the required dry runs said, for the evidence; or the denial where one is missing or failed."""
    rules = required(policy, decision)
    if not rules:
        return {}
    runs = []
    for rule in rules:
        if rule.dry_run is None:
            return denied(decision, "dry-run-missing", f"{rule.source} asks for a dry run and names none")
        status, output = _run(rule.dry_run, tree)
        if status != 0:
            why = f"the dry run `{' '.join(rule.dry_run)}` ended with {status}: {output.strip()[-300:]}"
            return denied(decision, "dry-run-missing", why)
        runs.append({"argv": list(rule.dry_run), "status": status, "output": output[-SHOWN:]})
    return {"dry_run": runs, "dry_run_tree": fingerprint(tree)}


def fingerprint(tree: Path) -> str:
    """A digest of the tree's files; "" where it cannot be told."""
    status, output = _run(("/usr/bin/python3", "-I", "-c", _DIGEST), tree)
    return output.strip() if status == 0 else ""


def _run(argv: tuple[str, ...], tree: Path) -> tuple[int | str, str]:
    try:
        done = throwaway.run(list(argv), ro=[tree], cwd=tree, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "time-out", ""
    except (OSError, EnclosureError, OutputLimitExceeded) as error:
        return "error", str(error)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")
