"""The same test with each backend: `@both` runs it in bubblewrap, then in a container.

Whether the person says `--backend` or their policy does is the same; here it is the policy, so that every
command of a test that names the world's policy is enclosed alike.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.docker.owner import SESSION
from tests.e2e.world import World, make_world
from tests.escape.test_enclosure_processes import alive

DOCKER = "docker"
_MARKS = (pytest.mark.docker, pytest.mark.timeout(300))

both = pytest.mark.parametrize(
    "world",
    # Without a parameter it is bubblewrap: tests for it alone share its world with those for both.
    [pytest.param(None, id="bwrap"), pytest.param(DOCKER, id=DOCKER, marks=_MARKS)],
    indirect=True,
)


def both_for_the_first(name: str, values: Mapping[str, object]) -> pytest.MarkDecorator:
    """Every value with bubblewrap; in a container the first, where what differs is not the enclosure's."""
    rows = [pytest.param(None, value, id=f"bwrap-{said}") for said, value in values.items()]
    first, value = next(iter(values.items()))
    rows.append(pytest.param(DOCKER, value, id=f"{DOCKER}-{first}", marks=_MARKS))
    return pytest.mark.parametrize(("world", name), rows, indirect=["world"])


@contextmanager
def chosen(backend: str | None, folder: Path, policy: str = "") -> Iterator[World]:
    """A world of whom has chosen that backend. Without an engine the test is skipped, in CI it fails."""
    if backend is None:
        with make_world(folder, policy) as made:
            yield made
        return
    from tests.docker import lab

    lab.image()
    with make_world(folder, f'{policy}[sandbox]\nbackend = "{backend}"\n') as made:
        env = {**made.sekisho.env, "DOCKER_HOST": f"unix://{lab.engine().address}"}
        yield replace(made, sekisho=replace(made.sekisho, env=env))


def left_of(world: World, session: str, mark: str) -> list[str]:
    """What is there of a session now: processes with `mark` among their arguments, and containers."""
    found = [f"process {pid}" for pid in alive(mark)]
    if "DOCKER_HOST" in world.sekisho.env:
        from tests.docker import lab

        wanted = {"label": f"{SESSION}={session}"}
        made = lab.engine().client.containers(all=True, filters=wanted)
        found += [f"container {one['Id']}" for one in made]
    return found
