"""Fixtures that more than one room's tests use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sekisho.demo import Upstream, UpstreamProcess
from tests.support.unprivileged import OrdinaryUser, ordinary_user
from tests.support.upstream import (
    Sekisho,
    make_repository,
    make_upstream,
    make_upstream_process,
    write_policy,
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "missing_in_ci(reason): a tool is missing where none may be")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("missing_in_ci"):
        pytest.fail(f"{mark.args[0]} (with CI=true nothing may be missing)", pytrace=False)


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    """Servers on a free port of loopback: git.test, api.test and more, see tests/support/upstream.py."""
    with make_upstream(tmp_path / "upstream") as servers:
        yield servers


@pytest.fixture
def upstream_process(tmp_path: Path) -> Iterator[UpstreamProcess]:
    """The same servers without threads in the test's process, which sandbox.launch does not stand."""
    with make_upstream_process(tmp_path / "upstream-process") as servers:
        yield servers


@pytest.fixture
def policy_file(tmp_path: Path, upstream: Upstream) -> Path:
    """A `sekisho.toml` that knows where `upstream` is and whom it trusts."""
    return write_policy(tmp_path / "sekisho.toml", upstream)


@pytest.fixture
def repo(tmp_path: Path, upstream: Upstream) -> Path:
    """A person's repository with the remote https://git.test/x.git and an uncommitted edit."""
    return make_repository(tmp_path / "repo", upstream)


@pytest.fixture
def sekisho_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, also for code that runs in this process."""
    home = tmp_path / "sekisho-home"
    (home / "home").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("SEKISHO_HOME", str(home))
    return home


@pytest.fixture
def run_sekisho(sekisho_home: Path, tmp_path: Path) -> Sekisho:
    """The command as a person runs it: `run_sekisho("run", "--policy", policy_file, "--", "true")`."""
    return Sekisho(sekisho_home, tmp_path)


@pytest.fixture
def as_ordinary_user() -> Iterator[OrdinaryUser]:
    """An ordinary user to run commands as, also where the tests run as root."""
    with ordinary_user() as user:
        yield user
