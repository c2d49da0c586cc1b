"""Tools that are not there: covered wherever PATH leads, and what is kept stays."""

import subprocess
from pathlib import Path

import pytest

from sandbox.absent import KIND, ONLY_DIR, stub, view
from sandbox.spec import Mount, MountKind
from tests.support.needs import needs
from tests.unit.sandbox.lab import enclosure, run_inside


def tool(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho real\n")
    path.chmod(0o755)
    return path


def covered(mounts: tuple[Mount, ...]) -> list[str]:
    return [mount.target for mount in mounts if mount.kind is MountKind.DATA]


def test_tool_is_covered_in_every_folder_and_behind_links(tmp_path: Path) -> None:
    one, two = tool(tmp_path / "a/ssh"), tool(tmp_path / "real/openssh")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/ssh").symlink_to(two)
    assert covered(view(f"{tmp_path}/a:{tmp_path}/b").mounts) == [str(one), str(two)]


def test_kept_tool_stays(tmp_path: Path) -> None:
    tool(tmp_path / "kubectl")
    helm = tool(tmp_path / "helm")
    assert covered(view(str(tmp_path), keep=["kubectl"]).mounts) == [str(helm)]


def test_file_that_is_many_programs_is_left_and_said(tmp_path: Path) -> None:
    tool(tmp_path / "busybox")
    (tmp_path / "nc").symlink_to("busybox")
    found = view(str(tmp_path))
    assert (covered(found.mounts), found.unhidden) == ([], ("nc",))


def test_file_that_a_kept_tool_shares_is_left_and_said(tmp_path: Path) -> None:
    tool(tmp_path / "netcat.openbsd")
    for name in ("nc", "netcat"):
        (tmp_path / name).symlink_to("netcat.openbsd")
    found = view(str(tmp_path), keep=["nc"])
    assert (covered(found.mounts), found.unhidden) == ([], ("netcat",))


def test_stub_says_how_to_ask_and_ends_with_denied(tmp_path: Path) -> None:
    tool(tmp_path / "terraform")
    (stub,) = view(str(tmp_path)).mounts
    script = tool(tmp_path / "stub")
    script.write_bytes(stub.content)
    done = subprocess.run([script], capture_output=True, text=True, check=False)
    assert (done.returncode, stub.mode) == (77, 0o755)
    what, why, instead = done.stderr.splitlines()
    assert what == "sekisho: denied (absent-tool): terraform (deploy) is absent in this sandbox"
    assert why.startswith("  why: ")
    assert 'sandbox.tools.keep = ["terraform"]' in why
    assert instead.startswith("  next: ")
    assert "sekisho-request" in instead


def test_only_listed_tools_are_on_the_path(tmp_path: Path) -> None:
    rg, ssh = tool(tmp_path / "rg"), tool(tmp_path / "ssh")
    found = view(str(tmp_path), only=["rg", "missing"], lead="/opt/sekisho/bin")
    links = {mount.target: mount.source for mount in found.mounts if mount.kind is MountKind.LINK}
    assert links == {f"{ONLY_DIR}/rg": str(rg)}
    assert found.path == f"/opt/sekisho/bin:{ONLY_DIR}"
    assert covered(found.mounts) == [str(ssh)]


def test_what_no_wire_leads_to_is_not_advised_to_be_kept() -> None:
    said = stub("ssh", "ssh")
    assert "the person can allow it" not in said
    assert "git remote set-url NAME https://HOST/PATH" in said
    assert "the person can allow it" in stub("aws", "deploy")


@pytest.mark.parametrize(
    "name", ["git", "curl", "wget", "gh", "npm", "pip", "twine", "cargo", "rsync", "make"]
)
def test_tool_whose_wire_is_inspected_is_not_absent(name: str) -> None:
    assert name not in KIND


@pytest.mark.unthreaded
@pytest.mark.sandbox
@needs("bwrap", "ssh")
def test_ssh_is_absent_inside() -> None:
    found = view("/usr/local/bin:/usr/bin:/bin")
    for name in ("ssh", "/usr/bin/ssh", "/bin/ssh"):
        status, output = run_inside(enclosure(name, "-V", mounts=found.mounts))
        assert (status, "ssh (ssh) is absent" in output) == (77, True)
    assert run_inside(enclosure("git", "--version", mounts=found.mounts))[0] == 0
