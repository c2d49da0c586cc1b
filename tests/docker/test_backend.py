"""Which backend is chosen, and that a session's whole view works with it; own images and devcontainers."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import check
from sandbox.backend import Backend, ToolsWanted, choose
from sandbox.descriptors import Stdio
from sandbox.docker.checking import look
from sandbox.docker.choosing import choose as choose_image
from sandbox.docker.laying import PREFIX
from sandbox.environment import Person, Trust, environment, helper_mounts
from sandbox.errors import EnclosureError
from sandbox.spec import Enclosure, Mount, MountKind
from tests.docker import lab
from tests.docker.test_same_network import talk_through
from tests.support.needs import skip_or_fail
from tests.support.unprivileged import ordinary_user

pytestmark = lab.marks


def chosen(wanted: str, image: str | None, folder: Path) -> Backend:
    lab.image()
    return choose(wanted, image=image, project=folder, state=folder)


def test_image_means_docker(tmp_path: Path) -> None:
    found = chosen("auto", "sekisho/base", tmp_path)
    assert (found.name, found.image) == ("docker", "sekisho/base")
    assert found.why == "the image sekisho/base is named"


@pytest.mark.unthreaded
@pytest.mark.sandbox
def test_without_an_image_bwrap_is_taken_where_it_can(tmp_path: Path) -> None:
    found = chosen("auto", None, tmp_path)
    assert (found.name, found.why) == ("bwrap", "bwrap can enclose here")


def test_docker_is_taken_where_bwrap_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = check.Check(name="user namespaces", ok=False, detail="switched off", instead="Switch them on.")
    monkeypatch.setattr(check, "preflight", lambda: [broken])
    found = chosen("auto", None, tmp_path)
    assert found.name == "docker"
    assert found.why == "bwrap cannot enclose here: user namespaces: switched off"
    with pytest.raises(EnclosureError, match="Neither backend can enclose here") as caught:
        choose("auto", image=None, project=tmp_path, state=tmp_path, environ={"DOCKER_HOST": "unix:///no"})
    assert caught.value.code == "nothing-encloses"
    assert "Switch them on." in caught.value.instead


def whole_view(found: Backend, folder: Path, *argv: str, only: list[str] | None = None) -> Enclosure:
    """What a session's enclosure is put together from."""
    uid, gid = found.identity()
    home = "/home/agent"
    (folder / "shim").mkdir(exist_ok=True)
    (folder / "shim/tool").write_text("#!/bin/sh\necho shim\n")
    (folder / "shim/tool").chmod(0o755)
    tools = found.tools(
        ToolsWanted(
            command=argv[0],
            environ=os.environ,
            home=str(Path.home()),
            workdir="/work/it",
            first=("/run/sekisho/bin",),
            only=only,
        )
    )
    (folder / "bundle.pem").write_text("trusted\n")
    (folder / "apt.conf").write_text("# trusted\n")
    (folder / "repo").mkdir(exist_ok=True)
    return Enclosure(
        argv=argv,
        workdir="/work/it",
        mounts=(
            *found.base(home=home, uid=uid, gid=gid, tmp_size=1 << 26, home_size=1 << 26),
            *tools.mounts,
            *helper_mounts(Person(name="N", email="n@e"), "/work/it"),
            Mount(kind=MountKind.RW, source=str(folder / "repo"), target="/work/it"),
            *found.trust(folder, home=home),
            Mount(kind=MountKind.RO, source=str(folder / "shim"), target="/run/sekisho/bin"),
            *tools.on_top,
        ),
        env=environment(
            {}, home=home, path=tools.path, terminal=False, trust=Trust(bundle="/b"), extra=tools.env
        ),
        uid=uid,
        gid=gid,
        network="prepared",
    )


def run_with(found: Backend, spec: Enclosure) -> tuple[int, str]:
    """Status and output."""
    with tempfile.TemporaryFile() as output:
        stdio = Stdio(stdout=output.fileno(), stderr=output.fileno())
        with found.start(spec, stdio=stdio, session="S-1") as running:
            running.release()
            status = running.wait(60)
        output.seek(0)
        return status, output.read().decode()


SCRIPT = """
tool; git config user.name; cat /etc/ssl/certs/ca-certificates.crt; ssh host 2>&1; echo $?
touch made; pwd; echo "$PATH" | cut -d: -f1
"""


@pytest.mark.unthreaded
@pytest.mark.sandbox
@pytest.mark.parametrize("name", ["bwrap", "docker"])
def test_whole_view_is_the_same_with_both(name: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    found = chosen(name, None, tmp_path)
    status, output = run_with(found, whole_view(found, tmp_path, "/bin/sh", "-c", SCRIPT))
    lines = output.splitlines()
    assert (status, lines[:3]) == (0, ["shim", "N", "trusted"])
    assert "ssh (ssh) is absent" in lines[3]
    assert lines[6:] == ["77", "/work/it", "/run/sekisho/bin"]
    assert (tmp_path / "repo/made").stat().st_uid == os.geteuid()


def test_only_listed_tools_are_found(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    found = chosen("docker", None, tmp_path)
    script = "git --version | cut -c1-11; command -v curl || echo none; nope"
    spec = whole_view(found, tmp_path, "/bin/sh", "-c", script, only=["git", "cut", "nope"])
    status, output = run_with(found, spec)
    assert status == 127
    assert output == "git version\nnone\nsekisho: nope is not in this image\n"


@pytest.fixture
def tag() -> Iterator[str]:
    """A name for an image, which goes away."""
    name = f"sekisho-test-{os.getpid()}:own"
    yield name
    lab.engine().client.remove_image(name, force=True)


def test_own_image_is_used_as_it_is(tag: str, tmp_path: Path) -> None:
    base = lab.image()
    text = (
        f"FROM {base.id}\nENV TOOLS=/opt/tools PATH=/opt/tools:/usr/bin:/bin\nVOLUME /data\nUSER 4444\n"
        'COPY own /opt/tools/own\nENTRYPOINT ["/no/such/entry"]\n'
    )
    (tmp_path / "own").write_text(
        "#!/bin/sh\necho own $TOOLS $(id -u) $(df /data | tail -1 | cut -d' ' -f1)\n"
    )
    (tmp_path / "own").chmod(0o755)
    (tmp_path / "Dockerfile").write_text(text)
    tmp_path.chmod(0o755)
    built = choose_image(lab.engine(), "./Dockerfile", project=tmp_path)
    lab.engine().client.tag(built.id, *tag.split(":"))
    found = chosen("docker", tag, tmp_path)
    (tmp_path / "own").unlink()
    status, output = run_with(found, whole_view(found, tmp_path, "own"))
    assert (status, output) == (0, f"own /opt/tools {os.geteuid()} tmpfs\n")
    assert not lab.engine().client.volumes()["Volumes"]


def test_devcontainer_with_an_image(tmp_path: Path) -> None:
    lab.image()
    (tmp_path / ".devcontainer").mkdir()
    file = tmp_path / ".devcontainer/devcontainer.json"
    file.write_text(
        '{"image": "sekisho/base", /* x */ "containerEnv": {"A": "1"}, "postCreateCommand": "x",}'
    )
    for wanted in (".", ".devcontainer", str(file), ".devcontainer/devcontainer.json"):
        found = choose_image(lab.engine(), wanted, project=tmp_path)
        assert (found.id, found.env["A"]) == (lab.image().id, "1")
        assert found.notes == ("devcontainer.json: postCreateCommand has no effect in the sandbox",)


def test_devcontainer_with_a_dockerfile(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"ARG X=1\nFROM {lab.image().id}\nARG X\nENV MADE=$X\n")
    file = tmp_path / "devcontainer.json"
    file.write_text(json.dumps({"build": {"dockerfile": "Dockerfile", "args": {"X": "7"}}}))
    found = choose_image(lab.engine(), str(file), project=tmp_path)
    assert found.env["MADE"] == "7"


def test_dockerfile_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {lab.image().id}\nCOPY missing /x\n")
    with pytest.raises(EnclosureError, match="missing"):
        choose_image(lab.engine(), "./Dockerfile", project=tmp_path)


@pytest.mark.parametrize("wanted", ["./nothing", "/no/where/devcontainer.json", "../Dockerfile.no"])
def test_file_that_is_not_there(wanted: str, tmp_path: Path) -> None:
    with pytest.raises(EnclosureError, match=r"no devcontainer\.json or Dockerfile"):
        choose_image(lab.engine(), wanted, project=tmp_path)


def test_devcontainer_that_cannot_be_enclosed(tmp_path: Path) -> None:
    file = tmp_path / "devcontainer.json"
    file.write_text(json.dumps({"image": "sekisho/base", "privileged": True, "runArgs": ["--network=host"]}))
    with pytest.raises(EnclosureError, match=r"privileged: .*--network=host"):
        choose_image(lab.engine(), str(file), project=tmp_path)


def test_our_image_has_no_absent_tool() -> None:
    script = (
        "for t in ssh scp su mail sendmail firefox kubectl docker sudo; do command -v $t; done; "
        "find / -xdev -perm /6000 -type f 2>/dev/null; "
        "for t in git rg curl python3 bash; do command -v $t; done"
    )
    status, output = lab.run_inside(lab.enclosure("/bin/sh", "-c", script))
    assert (status, output.split()) == (
        0, ["/usr/bin/git", "/usr/bin/rg", "/usr/bin/curl", "/usr/bin/python3", "/usr/bin/bash"],
    )  # fmt: skip


def as_somebody(host: str) -> list[object]:
    """A session of an ordinary user who may use the engine: the helper makes the sockets."""
    os.environ["DOCKER_HOST"] = host
    work = Path(tempfile.mkdtemp(dir=Path.home()))
    mount = Mount(kind=MountKind.RW, source=str(work), target="/w")
    spec = lab.enclosure(
        "/bin/sh", "-c", "echo x >made; id -u", mounts=[mount], workdir="/w", uid=os.geteuid()
    )
    status, output = lab.run_inside(spec)
    with lab.launched(lab.enclosure("/bin/sleep", "300", uid=os.geteuid())) as running:
        running.release()
        running.stop("test")
        stopped = running.wait(20)
    left = [
        entry.name
        for entry in Path("/tmp").iterdir()
        if entry.name.startswith(PREFIX) and os.access(entry, os.W_OK)
    ]
    owned = (work / "made").stat().st_uid == os.geteuid()
    return [
        status,
        output == f"{os.geteuid()}\n",
        owned,
        stopped,
        talk_through(enter=True),
        lab.containers(),
        left,
    ]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_ordinary_user_with_the_engine_alone() -> None:
    expected = talk_through(enter=True)
    address = Path(lab.engine().address)
    mode = address.stat().st_mode & 0o777
    link = _linked(address)
    try:
        address.chmod(0o666)
        with ordinary_user() as user:
            assert user.call(as_somebody, f"unix://{link}") == [0, True, True, 143, expected, [], []]
    finally:
        address.chmod(mode)
        link.unlink()


def _linked(address: Path) -> Path:
    """The engine's socket under a path that everybody may walk."""
    for folder in ("/tmp", "/run", str(address.parent)):
        link = Path(folder, f"sekisho-test-{os.getpid()}.sock")
        try:
            os.link(address, link)
        except OSError:
            continue
        return link
    skip_or_fail("the engine's socket cannot be linked to")
    raise AssertionError


IMAGE_COMMAND = """
import sys
from sekisho.cli import errors, image
try: image.app()
except errors.Trouble as trouble: sys.exit(errors.report(trouble))
"""


def test_image_command_builds_and_lists(sekisho_home: Path) -> None:
    lab.image()
    command = [sys.executable, "-c", IMAGE_COMMAND]
    done = subprocess.run([*command, "list", "--json"], capture_output=True, text=True, check=True)
    rows = {row["variant"]: row for row in json.loads(done.stdout)}
    assert rows["base"]["id"] == lab.image().id
    assert rows["claude-code"]["tag"] == "sekisho/claude-code"
    wrong = subprocess.run([*command, "build", "--variant", "no"], capture_output=True, text=True)
    assert (wrong.returncode, "one of base, python, node" in wrong.stderr) == (2, True)


def test_doctor_tells_of_the_engine(tmp_path: Path) -> None:
    found = look(project=tmp_path)
    assert (found.ok, found.needed, found.used) == (True, False, False)
    assert "image sekisho/base" in found.detail


def test_doctor_tries_the_image_that_is_chosen(tmp_path: Path) -> None:
    found = look(chosen=True, project=tmp_path)
    assert (found.ok, found.needed) == (True, True), found
    assert "a container started and ended" in found.detail
    missing = look("no/such:image", chosen=True, project=tmp_path)
    assert (missing.ok, missing.needed, "not on this machine" in missing.detail) == (False, True, True)
    (tmp_path / "Dockerfile").write_text("FROM no/such:image\n")
    assert "image by " in look("./Dockerfile", chosen=True, project=tmp_path).detail
