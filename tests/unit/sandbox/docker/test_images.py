"""Package lists and the archive of an image: the same inputs, the same digest."""

import json
import tarfile
from pathlib import Path

import pytest

from images import archive
from images.build import options
from images.variants import FOLDER, VARIANTS, packages, packages_of, removed_tools
from sandbox.absent import ABSENT


@pytest.mark.parametrize("variant", [v for v in VARIANTS.values() if v.lists])
def test_lists_can_be_read_and_hold_nothing_absent(variant: object) -> None:
    names = packages_of(variant)  # type: ignore[arg-type]
    assert names == sorted(set(names))
    assert {"ca-certificates", "curl", "git", "python3", "ripgrep"} <= set(names)
    assert not set(names) & {*ABSENT["mail"], *ABSENT["browser"], *ABSENT["ssh"], "openssh-client"}


@pytest.mark.parametrize("variant", VARIANTS.values())
def test_every_variant_has_a_dockerfile(variant: object) -> None:
    text = (FOLDER / variant.dockerfile).read_text()  # type: ignore[attr-defined]
    assert text.count("FROM ") == 1
    assert "ARG " in text


def test_comments_and_empty_lines_are_no_packages() -> None:
    assert packages("# x\n\n git # why\nlibc6:amd64".replace(":amd64", ""), "f") == ["git", "libc6"]


@pytest.mark.parametrize("line", ["git; rm -rf /", "a,b", "--hook=x", "Git", "$(x)", "a b"])
def test_what_is_no_package_name_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"f:2: .* is no package name"):
        packages(f"git\n{line}\n", "f")


def test_essential_tools_that_are_absent_are_taken_out() -> None:
    assert {"usr/bin/su", "usr/bin/ssh", "usr/sbin/sendmail"} <= set(removed_tools())
    (hook,) = [option for option in options(["git"]) if "rm -f" in option]
    assert '"$1/usr/bin/su"' in hook


def test_same_root_makes_the_same_image(tmp_path: Path) -> None:
    root = tmp_path / "root.tar"
    root.write_bytes(b"x" * 10240)
    made = []
    for n in range(2):
        packed = tmp_path / f"{n}.tar"
        identity = archive.write(
            packed, root, tag="a/b", architecture="amd64", epoch=1_700_000_000, labels={"z": "1", "a": "2"}
        )
        made.append((identity, packed.read_bytes()))
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "0.tar") as tar:
        manifest = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]
        config = json.load(tar.extractfile(manifest[0]["Config"]))  # type: ignore[arg-type]
    assert manifest[0]["RepoTags"] == ["a/b:latest"]
    assert config["created"] == "2023-11-14T22:13:20Z"
    assert made[0][0] == f"sha256:{manifest[0]['Config'].removesuffix('.json')}"
