"""Submodules of a clone: empty at the start, and what an agent does in one is named at the end."""

import pytest

from tests.e2e.world import World
from tests.support.git import git_output, run_git
from tests.support.needs import needs

pytestmark = [pytest.mark.sandbox, needs("bwrap", "git")]


def test_work_in_a_submodule_that_the_agent_initialised_is_named_at_the_end(world: World) -> None:
    there = git_output("rev-parse", "main", cwd=world.upstream.repositories / "x.git")
    entry = '[submodule "lib"]\n\tpath = lib\n\turl = https://git.test/x.git\n'
    (world.repository / ".gitmodules").write_text(entry)
    run_git("add", ".gitmodules", cwd=world.repository)
    run_git("update-index", "--add", "--cacheinfo", f"160000,{there},lib", cwd=world.repository)
    run_git("commit", "-q", "-m", "Add a submodule", cwd=world.repository)
    session = world.run(
        """
        git submodule update -q --init lib && cd lib && cat file0.txt
        git commit -q --allow-empty -m "Work in it" && echo new >new.txt
        """
    )
    assert session.out == "content 0\n", session.err
    where = session.folder / "work" / "tree" / "lib"
    holds = "1 commit of its own, and uncommitted changes of new.txt"
    told = f"lib, a submodule: {holds}; not carried out, in {where}"
    assert session.handoff["left"] == [told]
    assert f"left in the clone: {told}\n" in session.err
    assert told in (session.folder / "handoff.md").read_text()
    assert git_output("log", "-1", "--format=%s", cwd=where) == "Work in it"
