"""A walk ends where a script would not, and can go on with another."""

import pytest

from shim.bash.effort import Unreadable
from shim.bash.streams import Streams
from shim.bash.walk import Walker
from shim.context import Context
from shim.judge import Judge
from shim.observe import initial_state


@pytest.mark.parametrize("endless", ["f() { f; }; f", 'x=\'eval "$x"\'; eval "$x"'])
def test_what_calls_itself_without_end_is_unreadable_and_costs_later_text_nothing(endless: str) -> None:
    walker, context = Walker(Judge(Context(cwd="/w"))), Context(cwd="/w")
    with pytest.raises(Unreadable):
        walker.text(endless, [initial_state(context)], Streams())
    assert walker.depth == 0
