"""Links lead somewhere, the README leads everywhere, and no page names what it must not."""

import re
from pathlib import PurePosixPath

import pytest

from tests.docs.pages import ROOT, Page, every_page, page

MACHINE_PATHS = re.compile(r"(?<![\w.~])/(?:work|root|Users|home/(?!agent\b))[/\w]*")


@pytest.mark.parametrize("one", every_page(), ids=str)
def test_links_lead_to_files_and_headings(one: Page) -> None:
    for link in one.links():
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = one.name if not path else str(PurePosixPath(one.name).parent / path)
        file = (ROOT / target).resolve()
        assert file.is_relative_to(ROOT), f"{one}: {link} leads out of the repository"
        assert file.exists(), f"{one}: {link} leads nowhere"
        if anchor:
            assert anchor in page(str(file.relative_to(ROOT))).anchors, f"{one}: {link}: no such heading"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[str] = set()
    ahead = ["README.md"]
    while ahead:
        name = ahead.pop()
        if name in reached or not name.endswith(".md"):
            continue
        reached.add(name)
        here = page(name)
        links = (link.partition("#")[0] for link in here.links() if "://" not in link)
        ahead += [
            str((ROOT / PurePosixPath(name).parent / link).resolve().relative_to(ROOT))
            for link in links
            if link
        ]
    assert {one.name for one in every_page()} <= reached | {"CHANGELOG.md"}


@pytest.mark.parametrize("one", every_page(), ids=str)
def test_no_page_names_a_folder_of_one_machine(one: Page) -> None:
    assert not MACHINE_PATHS.findall(one.text)


def test_the_changelog_has_a_place_for_what_is_not_released() -> None:
    text = page("CHANGELOG.md").text
    newest = re.search(r"^## (.+)$", text, re.MULTILINE)
    assert newest is not None
    assert newest[1] in ("Unreleased", "[Unreleased]")


def test_the_readme_gives_the_two_commands() -> None:
    said = [
        line.split("#")[0].strip()
        for block in page("README.md").blocks("sh")
        for line in block.text.splitlines()
    ]
    assert "make demo" in said
    assert "make test" in said


def test_every_make_target_on_a_page_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        found
        for one in every_page()
        for text in (*one.spans(), *(block.text for block in one.blocks("sh")))
        for found in re.findall(r"^make ([a-z]+)", text, re.MULTILINE)
    }
    assert named
    assert named <= targets
