"""No attack on the enclosure is left out for containers: a new one must be added here, or say why not."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.docker import lab

pytestmark = lab.marks
HERE, ESCAPE = Path(__file__).parent, Path(__file__).parents[1] / "escape"

# Modules none of whose attacks meets an enclosure, and what they meet.
ELSEWHERE = {
    "test_approval_repository": "what lies in our state folder after a session",
    "test_approval_reuse": "ledger and approver alone",
    "test_breaker_deciding": "judgement alone",
    "test_breaker_wire": "the proxy alone",
    "test_hidden_files": "what a place is made of; how it is mounted is in test_same_workspace and _in_place",
    "test_own_files": "what the gatekeeper lets a standing rule send",
    "test_proxy_addresses": "the proxy alone",
    "test_proxy_bodies": "the proxy alone",
    "test_proxy_capture": "the proxy, in a namespace of the test's",
    "test_proxy_fails_closed": "the proxy alone",
    "test_proxy_raw_bytes": "the proxy alone",
    "test_start_from_results": "a clone in the making, before there is an enclosure",
    "test_tracked_repository": "git outside, before and after a session",
    "test_workspace_collect": "a clone that an agent has left, in throwaway sandboxes",
    "test_workspace_hold": "a clone that an agent has left, in throwaway sandboxes",
}
DIFFERENT = {
    # The engine's own, with the session's variables; test_launchers_environment_and_descriptors_do_not_leak
    # looks there for what must not leak.
    "test_first_process_starts_with_an_empty_environment",
    # The engine mounts, whoever launches; what such a user's files become is in test_backend.
    "test_an_ordinary_user_is_as_safe",
}


def attacks(module: ModuleType) -> set[str]:
    return {name for name in vars(module) if name.startswith("test_")}


def of(folder: Path, pattern: str = "test_*.py") -> dict[str, ModuleType]:
    package = ".".join(folder.parts[-2:])
    return {path.stem: importlib.import_module(f"{package}.{path.stem}") for path in folder.glob(pattern)}


@pytest.mark.parametrize("name", sorted(path.stem for path in ESCAPE.glob("test_*.py")))
def test_every_attack_is_made_on_containers(name: str) -> None:
    here = set().union(*(attacks(module) for module in of(HERE, "test_same_*.py").values()))
    missing = attacks(of(ESCAPE)[name]) - here
    if name in ELSEWHERE:
        assert missing == attacks(of(ESCAPE)[name])
    else:
        assert missing <= DIFFERENT


def test_no_reason_is_given_for_what_is_not_there() -> None:
    modules = of(ESCAPE)
    assert modules.keys() >= ELSEWHERE.keys()
    assert set().union(*map(attacks, modules.values())) >= DIFFERENT
