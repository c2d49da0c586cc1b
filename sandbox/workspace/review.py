"""What a person should look at twice: changed files that run code when somebody works there. Pure."""

import json
import re
from typing import Any

_NAMES = frozenset(
    b".envrc makefile gnumakefile justfile taskfile.yml taskfile.yaml rakefile .gitattributes .gitmodules "
    b".gitlab-ci.yml .travis.yml .drone.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml "
    b".pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .overcommit.yml .lintstagedrc "
    b".npmrc .yarnrc .yarnrc.yml .pnp.cjs .mcp.json sekisho.toml agents.md claude.md .cursorrules "
    b".tool-versions mise.toml .mise.toml flake.nix shell.nix devbox.json procfile vagrantfile".split()
)
_FOLDERS = re.compile(
    rb"(?:^|/)(?:\.githooks|\.git-hooks|githooks|\.husky|\.vscode|\.idea|\.devcontainer|\.claude|\.cursor"
    rb"|\.codex|\.github/(?:workflows|actions)|\.circleci|\.buildkite|\.gitea/workflows"
    rb"|\.forgejo/workflows)/"
)
_SUFFIXES = (b".mk", b".code-workspace")
_HOOKS_PATH = re.compile(rb"(?im)^\s*(?:\[[^\]]*\]\s*)?hookspath\s*=\s*(.*)$")


def is_hooklike(path: bytes) -> bool:
    """Whether a file of this path is run by git, an editor, a shell, a build or a CI without being asked."""
    lower = path.lower()
    name = lower.rpartition(b"/")[2]
    return name in _NAMES or name.endswith(_SUFFIXES) or _FOLDERS.search(lower) is not None


def scripts_differ(before: bytes | None, after: bytes | None) -> bool:
    """Whether two versions of a package.json run different scripts; unreadable ones count as different."""
    return _scripts(before) != _scripts(after) or (after is not None and _scripts(after) is None)


def hooks_path(config: bytes) -> bytes | None:
    """The value of core.hooksPath in the text of a git configuration, or None."""
    found = _HOOKS_PATH.findall(config)
    return found[-1].strip() if found else None


def _scripts(content: bytes | None) -> Any:
    if content is None:
        return {}
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return parsed.get("scripts", {}) if isinstance(parsed, dict) else None
