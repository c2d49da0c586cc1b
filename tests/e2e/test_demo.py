"""`sekisho demo` plays the whole story; its agent tests what it commits, and the hold shows that."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git", "curl")]


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """What the demo prints, by the number of its sections."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "sekisho", "demo"],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    parts = re.split(r"^(\d+)\. ", done.stdout, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_agent_tests_what_it_commits(sections: dict[str, str]) -> None:
    assert "$ python3 -m unittest\n" in sections["1"]
    assert "Ran 1 test" in sections["1"]
    assert "2 commits, 3 changed files" in sections["1"]


def test_the_hold_shows_the_test_as_seen(sections: dict[str, str]) -> None:
    # A runner that a session could have put there itself is not believed.
    below = any(Path(sys.prefix).is_relative_to(folder) for folder in ("/tmp", "/var/tmp"))
    assert f"python3 -m unittest: {'not verified (' if below else 'verified; 1 passed'}" in sections["4"]
    assert "1 passed" in sections["4"]


def test_each_write_arrives_once_and_none_before_the_yes(sections: dict[str, str]) -> None:
    before, after = (re.findall(r"POST +(\S+)", sections[number]) for number in ("2", "7"))
    assert [path for path in before if "git-upload-pack" not in path] == []
    assert sorted(path for path in after if "git-upload-pack" not in path) == [
        "api.test/messages",
        "git.test/hello.git/git-receive-pack",
    ]
