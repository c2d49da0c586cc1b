"""The servers as a process of their own."""

import socket
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

from sekisho.demo import UpstreamProcess


def test_process_serves_counts_and_ends(tmp_path: Path) -> None:
    threads = threading.active_count()
    with UpstreamProcess(["git.test", "api.test"], tmp_path, {"kim": "a:b"}, repositories=["o/x.git"]) as up:
        assert threading.active_count() == threads
        assert up.received() == 0
        connection = HTTPConnection(up.address, up.port, timeout=10)
        connection.request("POST", "/v1", body=b"abc", headers={"Host": "api.test"})
        assert connection.getresponse().status == 201
        connection.close()
        assert up.received() > 3
        assert [record["size"] for record in up.journal.writes(name="api.test")] == [3]
        assert (up.repositories / "o" / "x.git" / "HEAD").exists()
        assert up.resolve() == dict.fromkeys(up.names, f"127.0.0.1:{up.port}")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((up.address, up.port), timeout=5)


def test_port_in_use_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        started = time.monotonic()
        with (
            pytest.raises(RuntimeError, match="did not start"),
            UpstreamProcess(["a.test"], tmp_path, {}, ports=[port]),
        ):
            pass
        assert time.monotonic() - started < 10
    assert "Address already in use" in capfd.readouterr().err
