"""The client in front of a tool, in Python and compiled: one table of tests for both."""

import ast
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shim.compiling import compile_client
from shim.install import client_source, install
from shim.protocol import Asked, Refuse, Run, Wait, decode_request, encode_answer, payload_in

SYSTEM_PYTHON = Path("/usr/bin/python3")
Reply = Callable[[socket.socket, Asked], None]


class Broker:
    """A gatekeeper of one test: answers as told and remembers what it was asked."""

    def __init__(self, path: Path, reply: Reply) -> None:
        self.asked: list[Asked] = []
        self._reply = reply
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(8)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                received = b""
                while (found := payload_in(received)) is None:
                    received += connection.recv(65536)
                self.asked.append(decode_request(found[0]))
                try:
                    self._reply(connection, self.asked[-1])
                except OSError:
                    continue

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(5)


class Stand:
    """A folder of shims, a folder of real tools, and the place where a gatekeeper listens."""

    def __init__(self, folder: Path, client: Path, place: Path) -> None:
        self.shims, self.tools = folder / "shims", folder / "tools"
        self.socket = place
        self.work = folder / "work"
        self.work.mkdir()
        self.tools.mkdir()
        install(self.shims, ("git", "kubectl", "curl", "gone"), client=client)
        for name in ("git", "kubectl", "curl"):
            self.tool(self.tools, name)

    def tool(self, folder: Path, name: str) -> Path:
        path = folder / name
        path.write_text(f'#!/bin/sh\nprintf "REAL {name}:"\nprintf " [%s]" "$@"\nprintf "\\n"\nexit 7\n')
        path.chmod(0o755)
        return path

    def run(
        self, *argv: str, path: str | None = None, cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        variables = {"PATH": path or f"{self.shims}:{self.tools}:/usr/bin:/bin", **environment}
        return subprocess.run(
            [str(self.shims / argv[0]) if "/" not in argv[0] else argv[0], *argv[1:]],
            env=variables, cwd=cwd or self.work, capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip

    @contextmanager
    def broker(self, reply: Reply) -> Iterator[Broker]:
        broker = Broker(self.socket, reply)
        try:
            yield broker
        finally:
            broker.close()
            self.socket.unlink()


@pytest.fixture(scope="module", params=["python", "compiled"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A client that asks at `agent.sock` beside it."""
    folder = tmp_path_factory.mktemp("client")
    made, place = folder / "client", folder / "agent.sock"
    source = client_source()
    if request.param == "python":
        if not SYSTEM_PYTHON.exists():
            pytest.skip("no /usr/bin/python3")
        text = source.read_text().replace('b"/run/sekisho/agent.sock"', f'b"{place}"')
        assert str(place) in text
        made.write_text(text)
    elif not compile_client(source.with_name("client.c"), made, f'SEKISHO_SOCKET="{place}"'):
        pytest.skip("no C compiler")
    return made


@pytest.fixture
def stand(client: Path, tmp_path: Path) -> Stand:
    return Stand(tmp_path, client, client.with_name("agent.sock"))


def running(connection: socket.socket, asked: Asked) -> None:
    connection.sendall(encode_answer(Run()))


def refusing(connection: socket.socket, asked: Asked) -> None:
    connection.sendall(encode_answer(Refuse(status=75, text="held as AP-21: a person decides")))


def test_an_allowed_command_runs_with_its_arguments_and_status(stand: Stand) -> None:
    with stand.broker(running) as broker:
        done = stand.run("git", "commit", "-m", "two  words", "", "$(x)")
    assert (done.returncode, done.stdout) == (7, "REAL git: [commit] [-m] [two  words] [] [$(x)]\n")
    (asked,) = broker.asked
    assert asked.argv == ("git", "commit", "-m", "two  words", "", "$(x)")
    assert asked.cwd == str(stand.work)
    assert asked.tool == str(stand.tools / "git")


def test_a_refused_command_does_not_run(stand: Stand) -> None:
    with stand.broker(refusing):
        done = stand.run("git", "push")
    assert (done.returncode, done.stdout) == (75, "")
    assert done.stderr == "held as AP-21: a person decides\n"


def test_a_person_may_take_longer_than_the_deadline(stand: Stand) -> None:
    def reply(connection: socket.socket, asked: Asked) -> None:
        connection.sendall(encode_answer(Wait(seconds=10, text="waiting for AP-3")))
        time.sleep(1.3)
        connection.sendall(encode_answer(Run()))

    with stand.broker(reply):
        done = stand.run("git", "push")
    assert done.returncode == 7
    assert done.stderr == "waiting for AP-3\n"


def test_bytes_that_are_not_text_arrive_unchanged(stand: Stand) -> None:
    with stand.broker(running) as broker:
        done = subprocess.run(
            [os.fsencode(stand.shims / "git"), b"add", b"\xff\xfe\n"],
            env={"PATH": f"{stand.shims}:{stand.tools}:/usr/bin:/bin"}, cwd=stand.work, capture_output=True,
            timeout=20, check=False,
        )  # fmt: skip
    assert done.stdout == b"REAL git: [add] [\xff\xfe\n]\n"
    assert os.fsencode(broker.asked[0].argv[2]) == b"\xff\xfe\n"


def test_settings_are_announced_and_secrets_are_not(stand: Stand) -> None:
    with stand.broker(running) as broker:
        stand.run("git", "x", GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="alias.x", GIT_CONFIG_VALUE_0="push",
                  GITHUB_TOKEN="secret", PGPASSWORD="secret")  # fmt: skip
    announced = dict(broker.asked[0].environment)
    assert announced["GIT_CONFIG_VALUE_0"] == "push"
    assert "secret" not in announced.values()


# -- itself ------------------------------------------------------------------------------------------


def spellings(stand: Stand) -> dict[str, str]:
    link = stand.work.parent / "link"
    link.symlink_to(stand.shims)
    (stand.work / "bin").mkdir()
    (stand.work / "bin" / "git").symlink_to(stand.shims / "git")
    tools = str(stand.tools)
    return {
        "slashes": f"{stand.shims}//:{tools}",
        "dots": f"{stand.shims}/../shims/.:{tools}",
        "symbolic link": f"{link}:{tools}",
        "twice": f"{stand.shims}:{stand.shims}/:{tools}",
        "relative": f"../shims:{tools}",
        "relative tool": f"{stand.shims}:../tools",
        "link to the shim": f"{stand.work}/bin:{tools}",
        "empty entry": f":{stand.shims}::{tools}",
        "missing folder": f"/nowhere:{tools}",
        "after": f"{tools}:{stand.shims}",
    }


def test_no_spelling_of_path_makes_it_call_itself(stand: Stand) -> None:
    for name, path in spellings(stand).items():
        with stand.broker(running) as broker:
            done = stand.run("git", "status", path=f"{path}:/usr/bin:/bin", HOME="/nonexistent")
        assert done.stdout == "REAL git: [status]\n", name
        assert len(broker.asked) == 1, name


def test_a_made_up_name_does_not_hide_the_tool(stand: Stand) -> None:
    with stand.broker(running) as broker:
        subprocess.run(
            ["/bin/bash", "-c", f"exec -a ls {stand.shims}/git push"],
            env={"PATH": f"{stand.shims}:{stand.tools}:/usr/bin:/bin"}, cwd=stand.work, capture_output=True,
            timeout=20, check=False,
        )  # fmt: skip
    assert broker.asked[0].argv == ("git", "push")
    assert broker.asked[0].tool == str(stand.tools / "git")


def test_it_finds_the_tool_when_called_by_a_relative_name(stand: Stand) -> None:
    with stand.broker(running):
        done = stand.run("./git", "status", cwd=stand.shims)
    assert done.stdout == "REAL git: [status]\n"


def test_folders_and_files_without_permission_are_passed_over(stand: Stand) -> None:
    first = stand.work / "first"
    (first / "git").mkdir(parents=True)
    second = stand.work / "second"
    second.mkdir()
    (second / "git").write_text("not a program")
    with stand.broker(running):
        done = stand.run("git", "status", path=f"{stand.shims}:{first}:{second}:{stand.tools}:/usr/bin:/bin")
    assert done.stdout == "REAL git: [status]\n"


def test_an_absent_tool_says_how_to_ask(stand: Stand) -> None:
    with stand.broker(running) as broker:
        done = stand.run("gone", "now")
    assert done.returncode == 127
    assert "sekisho-request" in done.stderr
    assert broker.asked[0].tool == ""


def test_it_works_in_a_directory_that_was_deleted(stand: Stand) -> None:
    with stand.broker(running):
        done = subprocess.run(
            ["/bin/sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$1" status', (
                "sh"
            ), str(stand.shims / (
                "git"
            ))],
            env={"PATH": f"{stand.shims}:{stand.tools}:/usr/bin:/bin"}, cwd=stand.work, capture_output=True,
            text=True, timeout=20, check=False,
        )  # fmt: skip
    assert done.stdout == "REAL git: [status]\n"


def test_the_environment_reaches_the_tool_unchanged(stand: Stand) -> None:
    (stand.tools / "git").write_text("#!/bin/sh\nexec /usr/bin/env\n")
    with stand.broker(running):
        done = stand.run("git", "x", LC_ALL="C", ODD="a=b")
    kept = {
        line for line in done.stdout.splitlines() if not line.startswith(("PWD=", "SHLVL=", "_=", "OLDPWD="))
    }
    path = f"{stand.shims}:{stand.tools}:/usr/bin:/bin"
    assert kept == {f"PATH={path}", "LC_ALL=C", "ODD=a=b"}


# -- without a gatekeeper ------------------------------------------------------------------------------

RUNS = [("git", "status"), ("git", "commit", "-m", "push"), ("git", "-C", "push", "log"), ("git", (
    "checkout"
), (
    "-b"
), (
    "x"
)),
        ("kubectl", "-n", "delete", "get", "pods"), ("kubectl", "config", "use-context", "x"), ("git",),
        ("curl", "http://localhost/"), ("kubectl",), ("git", "lfs", "pull"), ("git", "clean", (
            "-n"
        ))]  # fmt: skip
STOPS = [("git", "push"), ("git", "-C", "x", "push", "origin"), ("git", "-c", "a.b=c", "push"), ("git", (
    "lfs"
), (
    "push"
)),
         ("git", "reset", "-q", "--hard"), ("git", "reset", "--har"), ("git", "clean", "-xdf"), ("git", (
             "checkout"
         ), (
             "."
         )),
         ("kubectl", "delete", "pod", "x"), ("kubectl", "--context=get", "apply", "-f", "x"), ("kubectl", (
             "frobnicate"
         )),
         ("gone", "x"), ("git", "send-email", "x")]  # fmt: skip


def quiet(connection: socket.socket, asked: Asked) -> None:
    time.sleep(2.5)


def dripping(connection: socket.socket, asked: Asked) -> None:
    for byte in encode_answer(Run()):
        time.sleep(0.4)
        connection.sendall(bytes([byte]))


def saying(data: bytes) -> Reply:
    return lambda connection, asked: connection.sendall(data)


BROKEN: dict[str, Reply] = {
    "closes at once": saying(b""),
    "says rubbish": saying(b"HTTP/1.1 200 OK\r\n\r\nrun"),
    "says another version": saying(b"6:2\0run\0,"),
    "says an unknown verdict": saying(b"8:1\0maybe\0,"),
    "refuses with success": saying(b"16:1\0refuse\0000\0text\0,"),
    "says half": saying(b"6:1\0ru"),
    "says a frame without end": saying(b"6:1\0run\0;"),
    "says too much": saying(b"999999:" + b"x" * 200_000),
    "says a length without end": saying(b"1" * 100_000),
    "waits for ever": saying(b"23:1\0wait\0999999999\0text...\0,"),
}


@pytest.mark.parametrize("argv", RUNS, ids=" ".join)
def test_without_a_gatekeeper_local_commands_run(stand: Stand, argv: tuple[str, ...]) -> None:
    assert stand.run(*argv).returncode == 7


@pytest.mark.parametrize("argv", STOPS, ids=" ".join)
def test_without_a_gatekeeper_what_it_would_hold_is_refused(stand: Stand, argv: tuple[str, ...]) -> None:
    done = stand.run(*argv)
    assert (done.returncode, done.stdout) == (69, "")
    assert "gatekeeper does not answer" in done.stderr


@pytest.mark.parametrize("name", BROKEN)
def test_a_gatekeeper_that_talks_rubbish_opens_nothing(stand: Stand, name: str) -> None:
    with stand.broker(BROKEN[name]):
        assert stand.run("git", "push").returncode == 69
        assert stand.run("git", "status").returncode == 7


@pytest.mark.alone
@pytest.mark.parametrize("reply", [quiet, dripping], ids=["quiet", "dripping"])
def test_a_slow_gatekeeper_costs_about_a_second(stand: Stand, reply: Reply) -> None:
    with stand.broker(reply):
        start = time.monotonic()
        assert stand.run("git", "push").returncode == 69
        assert time.monotonic() - start < 2.4


def test_without_its_table_nothing_runs(stand: Stand) -> None:
    (stand.shims / ".offline").unlink()
    assert stand.run("git", "status").returncode == 69


# -- the Python client alone ------------------------------------------------------------------------------


def test_the_python_client_imports_almost_nothing(tmp_path: Path) -> None:
    install(tmp_path / "bin", ("git",), client=client_source())
    done = subprocess.run(
        [str(SYSTEM_PYTHON), "-ISE", "-X", "importtime", str(tmp_path / "bin" / "git")],
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 127
    imported = {
        line.rsplit("|", 1)[-1].strip()
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert {"_socket", "sekisho_client"} <= imported
    assert not imported & {
        "socket",
        "signal",
        "sekisho_watch",
        "re",
        "enum",
        "json",
        "os",
        "site",
        "typing",
        "shlex",
        "selectors",
    }


def test_the_python_client_is_kept_compiled(tmp_path: Path) -> None:
    install(tmp_path / "bin", ("git",), client=client_source())
    assert list((tmp_path / "bin" / ".client" / "__pycache__").glob("sekisho_client.*.pyc"))


def imports_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    plain = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    return plain | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_the_python_client_keeps_to_python_3_9() -> None:
    client = imports_of(client_source()) | imports_of(client_source().with_name("stub.py"))
    ours = {"sekisho_client", "sekisho_offline", "sekisho_watch"}
    assert client == {"sys", "posix", "_signal", "_socket", *ours}
    assert imports_of(client_source().with_name("offline_client.py")) == set()
    # Loaded for test runs alone, where some milliseconds do not count.
    assert imports_of(client_source().with_name("watch.py")) == {"contextlib", "os", "select", "signal"}
    assert client_source().with_name("stub.py").read_text().startswith("#!/usr/bin/python3 -ISE\n")


def test_both_clients_announce_the_same_variables() -> None:
    from shim.client import VARIABLES

    source = client_source().with_name("client.c").read_text()
    listed = source.split("VARIABLES[] = {", 1)[1].split("NULL}", 1)[0]
    assert [name.strip().strip('"').encode() for name in listed.split(",") if name.strip()] == list(VARIABLES)
