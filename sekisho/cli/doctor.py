"""`sekisho doctor`: what works on this machine, and what to do where it does not."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from sandbox.check import Check, preflight
from sekisho.cli.options import Json
from sekisho.cli.show import print_json
from sekisho.core.display import one_line
from sekisho.core.problem import PolicyError

app = typer.Typer(rich_markup_mode=None, add_completion=False)

OLDEST_GIT = (2, 39, 4)  # before it, upload-pack fetches lazily and runs what a clone configures


@app.command()
def doctor(json: Json = False) -> None:
    """Say what works on this machine, and what to do where it does not.

    Each failing line says what to do. Exit status 1 if one is needed.
    """
    checks = [*preflight(), _docker(), *_own()]
    if json:
        print_json([_plain(check) for check in checks])
    else:
        for check in checks:
            _print(check)
    if any(check.needed and not check.ok for check in checks):
        raise typer.Exit(1)


def _plain(check: Check) -> dict[str, object]:
    return {name: getattr(check, name) for name in ("name", "ok", "needed", "used", "detail", "instead")}


def _print(check: Check) -> None:
    mark = "ok  " if check.ok else "FAIL" if check.needed else "warn" if check.used else "info"
    print(f"{mark}  {check.name}: {one_line(check.detail)}")
    if not check.ok and check.instead:
        print(f"      next: {one_line(check.instead)}")


def _own() -> Iterator[Check]:
    yield _python()
    yield _git()
    yield from (_tried(name, look, instead) for name, look, instead in LOOKS)
    yield from _clients()


def _docker() -> Check:
    """Needed where a policy chooses it; one that cannot be read has a line of its own."""
    from sandbox.docker.checking import look
    from sekisho.core.policy import BUILTIN
    from sekisho.session.settings import person_layer, pin, project_layer

    project, policy = Path.cwd(), BUILTIN
    with contextlib.suppress(PolicyError):
        policy = pin(person_layer(), project_layer(project)).policy
    wanted = policy.sandbox
    chosen = wanted.backend == "docker" or (wanted.backend == "auto" and wanted.image is not None)
    return look(wanted.image, chosen=chosen, project=project)


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check(
        name="python",
        ok=sys.version_info >= (3, 12),
        detail=version,
        instead="Install Python 3.12 or newer.",
    )


def _shim() -> str:
    from sekisho.session import shimming

    clients = shimming.shim_folder(os.environ.get("PATH", ""))
    if why := shimming.hindrance(clients):
        raise RuntimeError(why)
    return f"{clients}, {'by /usr/bin/python3' if (clients / '.client').is_dir() else 'compiled'}"


def _git() -> Check:
    said = subprocess.run(["git", "version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    words = said.stdout.split()
    numbers = tuple(int(part) for part in words[2].split(".")[:3] if part.isdigit()) if len(words) > 2 else ()
    return Check(
        name="git",
        ok=numbers >= OLDEST_GIT,
        detail=said.stdout.strip() or "git was not found",
        instead="Install git 2.39.4 or newer: an older upload-pack runs what a clone configures, and "
        "one before 2.38 uses what looks like a repository among tracked files.",
    )


def _authority() -> str:
    from netpolicy.proxy import ca
    from sekisho.store.paths import state_dir

    return str(ca.ensure(state_dir() / "authority").certificate)


def _trust() -> str:
    from netpolicy.proxy import ca, trust
    from sekisho.store.paths import cache_dir, state_dir

    files = trust.trust_files(cache_dir(), ca.ensure(state_dir() / "authority"))
    browser = "" if files.nss else "; browsers are not covered (no certutil)"
    return f"{files.folder}{browser}"


def _clients() -> Iterator[Check]:
    """Nothing where there are no trust files: a line of their own says so."""
    from netpolicy.proxy import ca, trust
    from sekisho.cli.clients import checks
    from sekisho.store.paths import cache_dir, state_dir

    with contextlib.suppress(Exception):
        authority = ca.ensure(state_dir() / "authority")
        files = trust.trust_files(cache_dir(), authority)
        yield from checks(files, authority.certificate.read_bytes())


def _store() -> str:
    from sekisho.store.store import Store

    with Store() as store:
        findings = store.journal.verify()
        if findings:
            raise ValueError(f"{len(findings)} broken records, the first is {findings[0].message}")
        return f"{store.folder}, {len(store.sessions.list())} sessions"


def _runtime() -> str:
    from sekisho.store.paths import socket_path

    path = socket_path("doctor", "agent.sock")
    path.parent.rmdir()
    return f"{path.parent.parent} ({len(os.fsencode(path))} bytes of 107)"


def _policy() -> str:
    from sekisho.session.settings import person_layer, project_layer
    from sekisho.store.store import Store

    person, project = person_layer(), project_layer(Path.cwd())
    found = ", ".join(str(layer.path) for layer in (person, project) if layer) or "built in alone"
    with Store() as store:
        trusted = project is None or store.trust.is_trusted(project.path, project.digest)
    return found if trusted else f"{found} (not trusted as it stands: `sekisho policy trust`)"


LOOKS: tuple[tuple[str, Callable[[], str], str], ...] = (
    (
        "authority",
        _authority,
        "Make its folder yours alone (chmod -R go=), or remove it to get a new one.",
    ),
    (
        "clients in front of tools",
        _shim,
        "Install the system's python3 (package `python3`), or a C compiler.",
    ),
    ("trust files", _trust, "Remove the cache folder; it is made again."),
    (
        "ledger and journal",
        _store,
        "`sekisho audit verify` names broken records.",
    ),
    ("sockets", _runtime, "Set XDG_RUNTIME_DIR to a short folder of your own, mode 0700."),
    ("policy", _policy, "`sekisho policy check` shows every problem."),
)


def _tried(name: str, look: Callable[[], str], instead: str) -> Check:
    """Whatever a look raises is its finding: the doctor must not be the patient."""
    try:
        return Check(name=name, ok=True, detail=look())
    except Exception as error:
        # What knows its own way out knows it better.
        way = getattr(error, "instead", "") or instead
        return Check(name=name, ok=False, detail=f"{type(error).__name__}: {error}", instead=way)
