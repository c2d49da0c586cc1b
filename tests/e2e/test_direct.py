"""Whoever goes around the proxy's variables is inspected, or gets nowhere; the host is out of reach."""

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.world import Session, World
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]

BARE = "env -u HTTP_PROXY -u HTTPS_PROXY -u http_proxy -u https_proxy -u ALL_PROXY -u all_proxy"
PYTHON = "import urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open('https://api.test/python').status)"


class Canary:
    """A server on the host's loopback that notes whoever connects."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                self.seen.append(connection.recv(4096))

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


@pytest.fixture
def canary() -> Iterator[Canary]:
    made = Canary()
    yield made
    made.close()


def read_paths(world: World) -> set[str]:
    return {request["path"] for request in world.upstream.journal.requests(name="api.test")}


def test_a_client_that_ignores_the_proxy_is_inspected_all_the_same(world: World) -> None:
    session = world.run(
        f"""
        curl -sS --noproxy '*' -o /dev/null -w '%{{http_code}}\\n' https://api.test/noproxy
        curl -sS --noproxy '*' -o /dev/null -w '%{{http_code}}\\n' -d a=1 https://api.test/noproxy-write
        {BARE} python3 -c "{PYTHON}"
        """
    )
    assert session.out.split() == ["200", "403", "200"], session.err
    assert {"/noproxy", "/python"} <= read_paths(world)
    assert world.writes() == []
    assert world.hold(session)["target"] == "https://api.test/noproxy-write"


@needs("node")
def test_nodes_own_fetch_is_inspected(world: World) -> None:
    session = world.run(
        """
        node -e '
        fetch("https://api.test/node").then(r => console.log(r.status))
          .then(() => fetch("https://api.test/node-write", {method: "POST", body: "x"}))
          .then(r => console.log(r.status)).catch(e => console.log(e.cause || e))'
        """
    )
    assert session.out.split() == ["200", "403"], session.out + session.err
    assert "/node" in read_paths(world)
    assert world.writes() == []


@needs("java")
def test_java_is_inspected(world: World) -> None:
    source = (
        "import java.net.*; class R { public static void main(String[] a) throws Exception {"
        ' var c = (HttpURLConnection) new URL("https://api.test/java").openConnection();'
        " System.out.println(c.getResponseCode()); } }"
    )
    session = world.run(["bash", "-c", 'printf %s "$1" > /tmp/R.java; java /tmp/R.java', "agent", source])
    assert "200" in session.out.split(), session.err
    assert "/java" in read_paths(world)


@pytest.fixture(scope="module")
def attempts(world: World) -> Session:
    return world.run(
        r"""
        python3 - <<'E'
import socket
def tcp(address, port):
    try:
        with socket.create_connection((address, port), 3) as s:
            return "open"
    except OSError as error:
        return type(error).__name__
print("ssh", tcp("192.0.2.7", 22))
print("smtp", tcp("192.0.2.7", 25))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.settimeout(1)
    s.sendto(b"hello", ("192.0.2.8", 4433))
    try:
        print("udp", s.recv(10))
    except OSError as error:
        print("udp", type(error).__name__)
E
        sleep 0.5
        """
    )


def test_other_ports_lead_nowhere(attempts: Session) -> None:
    said = dict(line.split(" ", 1) for line in attempts.out.splitlines())
    assert "open" not in said.values()
    assert said["ssh"] == "ConnectionRefusedError"  # at once, not after a timeout


def test_direct_attempts_are_told_in_the_handoff(attempts: Session) -> None:
    told = " ".join(attempt["destination"] for attempt in attempts.handoff["attempts"])
    assert "192.0.2.7:22" in told
    assert "192.0.2.7:25" in told
    assert "192.0.2.8:4433" in told


def test_the_hosts_loopback_sees_nothing(world: World, canary: Canary) -> None:
    """Asked for directly, by name, by other spellings, and through the proxy."""
    port = canary.port
    session = world.run(
        f"""
        for host in 127.0.0.1 localhost '[::1]' 0.0.0.0 127.1 2130706433; do
          curl -sS -m 5 -o /dev/null "http://$host:{port}/direct"
          curl -sS -m 5 -o /dev/null --noproxy '' -x "$HTTP_PROXY" "http://$host:{port}/proxied"
          curl -sS -m 5 -o /dev/null --noproxy '' -p -x "$HTTP_PROXY" "http://$host:{port}/tunnelled"
        done
        curl -sS -m 5 -o /dev/null --noproxy '*' --connect-to "api.test:80:127.0.0.1:{port}" http://api.test/
        python3 -c 'import socket; socket.create_connection(("127.0.0.1", {port}), 2)'
        echo over
        """
    )
    assert session.out.endswith("over\n")
    assert canary.seen == []
    assert not world.writes()


def test_metadata_and_private_addresses_are_not_dialled(world: World) -> None:
    received = world.upstream.received()
    session = world.run(
        """
        for url in http://169.254.169.254/latest/meta-data/ http://10.0.0.1/ http://[fd00::1]/; do
          /run/sekisho/real/curl -sS -m 8 -o /dev/null -w '%{http_code}\\n' "$url"
        done
        """
    )
    assert set(session.out.split()) <= {"403", "000"}
    assert session.out.split()[0] == "403"
    assert world.upstream.received() - received <= 1
    assert session.summary["denied"] >= 1
