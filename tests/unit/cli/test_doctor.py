"""What works on this machine: each failing line says what to do, and it takes no time to find out."""

import json
import os
import time
from pathlib import Path

import pytest

from netpolicy.proxy import ca, trust
from netpolicy.proxy.trust import TrustFiles
from sandbox.check import Check
from sekisho.cli import doctor
from sekisho.cli.clients import CLIENTS, checks
from sekisho.session.settings import read_layer
from sekisho.store.store import Store
from tests.support.needs import needs
from tests.support.upstream import Sekisho

PROGRAMS = [program for client in CLIENTS for program in client.programs]


@pytest.fixture
def authority(tmp_path: Path) -> ca.Authority:
    return ca.ensure(tmp_path / "authority")


@pytest.fixture
def files(tmp_path: Path, authority: ca.Authority) -> TrustFiles:
    return trust.trust_files(tmp_path / "cache", authority, roots=authority.certificate)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with every client that is known."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in PROGRAMS:
        (folder / program).write_text("#!/bin/sh\n")
        (folder / program).chmod(0o755)
    return str(folder)


def found(files: TrustFiles, authority: ca.Authority, path: str) -> dict[str, Check]:
    return {
        check.name.removeprefix("client "): check
        for check in checks(files, authority.certificate.read_bytes(), path)
    }


def test_every_client_trusts_by_something_that_is_there(
    files: TrustFiles, authority: ca.Authority, path: str
) -> None:
    made = found(files, authority, path)
    assert list(made) == PROGRAMS
    wrong = {name for name, check in made.items() if not check.ok}
    assert wrong <= {"chromium", "google-chrome", "chromium-browser"}
    assert "CURL_CA_BUNDLE: bundle.pem" in made["curl"].detail
    assert "WGETRC: wgetrc" in made["wget"].detail
    assert "JAVA_TOOL_OPTIONS: java.p12" in made["java"].detail
    assert "SSL_CERT_FILE" in made["gh"].detail


def test_clients_that_are_not_there_have_no_line(files: TrustFiles, authority: ca.Authority) -> None:
    assert found(files, authority, "/nonexistent") == {}


def gone(files: TrustFiles) -> None:
    files.bundle.unlink()


def private(files: TrustFiles) -> None:
    files.bundle.chmod(0o600)


def another(files: TrustFiles) -> None:
    files.bundle.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")


@pytest.mark.parametrize("breaks", [gone, private, another])
def test_a_file_that_is_of_no_use_is_named_with_what_to_do(
    files: TrustFiles, authority: ca.Authority, path: str, breaks: object
) -> None:
    assert callable(breaks)
    breaks(files)
    made = found(files, authority, path)
    assert not made["curl"].ok
    assert str(files.bundle) in made["curl"].detail
    assert str(files.folder) in made["curl"].instead
    assert made["java"].ok


def test_browsers_need_a_database(files: TrustFiles, authority: ca.Authority, path: str) -> None:
    made = found(files, authority, path)["chromium"]
    assert made.ok == (files.nss is not None)
    assert made.ok or "libnss3-tools" in made.instead


@pytest.mark.sandbox
@needs("bwrap", "git")
def test_it_takes_less_than_three_seconds(run_sekisho: Sekisho) -> None:
    run_sekisho("doctor")  # makes keys and trust files
    before, began = os.times(), time.monotonic()
    done = run_sekisho("doctor", "--json")
    took, after = time.monotonic() - began, os.times()
    own = sum(after[2:4]) - sum(before[2:4])
    assert own < 3, f"{own:.1f} s of processor time, {took:.1f} s in all"
    assert done.status == 0, done.out
    rows = json.loads(done.out)
    assert {"kernel", "AppArmor", "bubblewrap", "python", "authority", "policy", "sockets"} <= {
        row["name"] for row in rows
    }
    assert {"client git", "client python3"} <= {row["name"] for row in rows}
    assert all(row["instead"] for row in rows if not row["ok"])


def test_what_is_broken_fails_with_a_line_and_no_traceback(run_sekisho: Sekisho, sekisho_home: Path) -> None:
    state = sekisho_home / "state"
    (state / "authority").mkdir(parents=True, mode=0o700)
    state.chmod(0o700)
    (state / "ledger.db").write_bytes(b"nonsense" * 1000)
    (state / "authority" / "mitmproxy-ca.pem").write_text("nonsense")
    done = run_sekisho("doctor")
    assert done.status == 1
    assert "Traceback" not in done.out + done.err
    lines = done.out.splitlines()
    failing = [number for number, line in enumerate(lines) if line.startswith("FAIL")]
    assert {lines[number].split(":")[0].split("  ")[1] for number in failing} >= {
        "authority",
        "trust files",
        "ledger and journal",
    }
    assert all(lines[number + 1].strip().startswith("next: ") for number in failing)


@pytest.mark.parametrize(
    ("policy", "mark", "needed"),
    [
        ("", "info", False),
        ('backend = "docker"', "FAIL", True),
        ('image = "mine"', "FAIL", True),
        ('backend = "bwrap"', "info", False),
    ],
)
def test_an_engine_is_needed_where_it_is_chosen(
    run_sekisho: Sekisho, policy: str, mark: str, needed: bool
) -> None:
    (run_sekisho.cwd / "sekisho.toml").write_text(f"version = 1\n[sandbox]\n{policy}\n")
    nowhere = "unix:///nonexistent/docker.sock"
    lines = run_sekisho("doctor", DOCKER_HOST=nowhere).out.splitlines()
    place = lines.index(f"{mark}  Docker engine: No Docker engine answers at /nonexistent/docker.sock.")
    assert lines[place + 1].strip().startswith("next: Start it")
    rows = json.loads(run_sekisho("doctor", "--json", DOCKER_HOST=nowhere).out)
    (row,) = [row for row in rows if row["name"] == "Docker engine"]
    assert (row["ok"], row["needed"]) == (False, needed)


def test_every_look_says_what_to_do() -> None:
    assert all(instead for _, _, instead in doctor.LOOKS)


def test_a_policy_that_is_not_trusted_is_said_to_be_so(
    sekisho_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sekisho.toml").write_text("version = 1\n")
    monkeypatch.chdir(tmp_path)
    assert "not trusted as it stands: `sekisho policy trust`" in doctor._policy()
    with Store() as store:
        layer = read_layer(tmp_path / "sekisho.toml")
        store.trust.trust(layer.path, layer.digest, "me")
    assert doctor._policy() == str(tmp_path / "sekisho.toml")
