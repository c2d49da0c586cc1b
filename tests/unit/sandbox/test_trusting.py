"""Trust files go over what clients read without being told, and only where that is."""

from pathlib import Path

import pytest

from sandbox.spec import Mount, MountKind
from sandbox.trusting import BUNDLES, mounts, over_this_system


@pytest.fixture
def trust(tmp_path: Path) -> Path:
    folder = tmp_path / "trust"
    folder.mkdir()
    return folder


def put(root: Path, name: str, link: str | None = None) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if link is None:
        path.write_text("")
    else:
        path.symlink_to(link)


def targets(trust: Path, root: Path) -> list[str]:
    laid = list(over_this_system(trust, "/home/agent", str(root)))
    assert all(mount.kind is MountKind.RO and Path(mount.source).parent == trust for mount in laid)
    return [mount.target for mount in laid]


def test_debian(trust: Path, tmp_path: Path) -> None:
    put(tmp_path / "root", "etc/ssl/certs/ca-certificates.crt")
    (tmp_path / "root/etc/apt").mkdir()
    assert targets(trust, tmp_path / "root") == [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/apt/apt.conf.d/99sekisho",
    ]


def test_links_are_followed_to_one_file(trust: Path, tmp_path: Path) -> None:
    """Fedora: several names, one file. A mount on a link would miss it."""
    root = tmp_path / "root"
    put(root, "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem")
    real = "../../ca-trust/extracted/pem/tls-ca-bundle.pem"
    put(root, "etc/pki/tls/certs/ca-bundle.crt", real)
    put(root, "etc/ssl/cert.pem", "../pki/tls/certs/ca-bundle.crt")
    assert targets(trust, root) == ["/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"]


def test_what_is_not_visible_inside_is_left_alone(trust: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    put(root, "var/lib/ca-certificates/ca-bundle.pem")
    put(root, "etc/ssl/ca-bundle.pem", "../../var/lib/ca-certificates/ca-bundle.pem")
    put(root, "etc/ssl/cert.pem", "nowhere")
    assert targets(trust, root) == []


def test_a_database_for_browsers_goes_into_the_private_home(trust: Path, tmp_path: Path) -> None:
    (trust / "nssdb").mkdir()
    (mount,) = over_this_system(trust, "/home/agent", str(tmp_path))
    assert mount == Mount(kind=MountKind.RO, source=str(trust / "nssdb"), target="/home/agent/.pki/nssdb")


def test_in_a_container_they_lie_wherever_any_system_looks(trust: Path) -> None:
    (trust / "nssdb").mkdir()
    laid = list(mounts(trust, "/home/agent"))
    assert [mount.target for mount in laid] == [
        *BUNDLES,
        "/home/agent/.pki/nssdb",
        "/etc/apt/apt.conf.d/99sekisho",
    ]
    assert {mount.source for mount in laid[:-2]} == {str(trust / "bundle.pem")}
