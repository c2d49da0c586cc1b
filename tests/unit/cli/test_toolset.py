"""Which programs of a line a session lacks: `sekisho explain --context sandbox` says what a session would."""

from pathlib import Path

import pytest

from sekisho.cli.toolset import decided, toolset
from sekisho.core.policy import Sandbox, Tools
from shim.context import Context, Place

WHERE = Context(cwd="/work/x", place=Place.SANDBOX)


@pytest.fixture
def bin_folder(tmp_path: Path) -> str:
    for name in ("gh", "git", "ls", "kubectl"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("line", "absent"),
    [
        ("kubectl get pods", ["kubectl"]),
        ("git status; (ssh x)", ["ssh"]),
        ("sudo ls", ["sudo"]),
        ("echo a | env X=1 sudo tee /x", ["sudo"]),
        ("bash -c 'terraform apply'", ["terraform"]),
        ("docker run x kubectl get pods", ["docker"]),
        ("twine upload x", ["twine"]),  # of the client in front of tools, and not on PATH
        ("gh pr list", []),
        ("./kubectl get pods", []),
        ("kubectl() { ls; }; kubectl", []),
        ("command -v sudo", []),
        ("unheard-of x", []),
    ],
)
def test_absent_tools_are_found_wherever_they_are_called(
    bin_folder: str, line: str, absent: list[str]
) -> None:
    tools = toolset(Sandbox(), {"PATH": bin_folder})
    assert [one.action.verb for one in decided(tools, line, WHERE)] == absent


def test_what_the_policy_keeps_is_there(bin_folder: str) -> None:
    kept = toolset(Sandbox(tools=Tools(keep=("kubectl",))), {"PATH": bin_folder})
    assert decided(kept, ("kubectl", "get", "pods"), WHERE) == ()
    assert [one.action.verb for one in decided(kept, ("helm", "list"), WHERE)] == ["helm"]


def test_with_only_nothing_else_is_there(bin_folder: str) -> None:
    only = toolset(Sandbox(tools=Tools(only=("git", "kubectl"))), {"PATH": bin_folder})
    line = "git status; ls; gh pr list; kubectl get pods; echo done"
    assert [one.action.verb for one in decided(only, line, WHERE)] == ["ls", "gh"]


def test_an_absolute_path_is_covered_where_it_is_on_the_path(bin_folder: str) -> None:
    tools = toolset(Sandbox(), {"PATH": bin_folder})
    assert tools.missing(f"{bin_folder}/kubectl")
    assert not tools.missing("/opt/own/kubectl")


def test_what_is_on_the_path_of_an_image_is_not_known_from_here(bin_folder: str) -> None:
    tools = toolset(Sandbox(backend="docker"), {"PATH": bin_folder})
    assert (tools.missing("twine"), bool(tools.missing("kubectl"))) == ("", True)
