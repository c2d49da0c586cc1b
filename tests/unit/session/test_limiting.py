"""Which limits hold, and when their end is told."""

import pytest

from sandbox.spec import Limits
from sekisho.session.limiting import LONGEST_NOTICE, notice, strictest, weakly_held

CASES = [
    (Limits(), Limits(), Limits()),
    (Limits(memory=5), Limits(), Limits(memory=5)),
    (Limits(), Limits(time=2.5), Limits(time=2.5)),
    (Limits(memory=5, pids=9), Limits(memory=7, pids=3), Limits(memory=5, pids=3)),
    (Limits(cpus=0.5, time=60), Limits(cpus=2, time=30), Limits(cpus=0.5, time=30)),
]


@pytest.mark.parametrize(("one", "other", "both"), CASES)
def test_the_strictest_of_each_holds_from_either_side(one: Limits, other: Limits, both: Limits) -> None:
    assert strictest(one, other) == strictest(other, one) == both


@pytest.mark.parametrize(
    ("limit", "before"), [(4, 0.4), (600, 60), (3000, LONGEST_NOTICE), (1e6, LONGEST_NOTICE)]
)
def test_the_end_is_told_in_time(limit: float, before: float) -> None:
    assert notice(limit) == pytest.approx(before)
    assert notice(limit) < limit


@pytest.mark.parametrize(
    ("limits", "enforced", "said"),
    [
        (Limits(), (), []),
        (Limits(memory=5, cpus=1), ("memory", "cpus"), []),
        (Limits(memory=5, pids=9, time=3), (), ["held by looking once a second"]),
        (Limits(memory=5, cpus=1), (), ["nothing holds the limit of cpus", "held by looking once a second"]),
    ],
)
def test_what_no_control_group_holds_is_said(
    limits: Limits, enforced: tuple[str, ...], said: list[str]
) -> None:
    told = weakly_held(limits, enforced)
    assert [part in line for part, line in zip(said, told, strict=True)] == [True] * len(said)
