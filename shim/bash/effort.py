"""How much work one look at a command may be, counted in steps, not in seconds: the same text always gets the
same answer. What is beyond it is unknown."""

# A step is about a microsecond of ours; what grows a text costs by its length.
STEPS = 40_000
STEPS_A_CHARACTER = 5
LARGEST = 1 << 14  # characters of a value, however short the text that makes it
_FREE = 4  # characters that are copied in a step


class Unreadable(ValueError):
    """The text is not bash, or is bash that is not read here: its effect is unknown."""


class Effort:
    """What is left for one command of `size` characters. `largest`: beyond, a value is not known."""

    def __init__(self, size: int = 0) -> None:
        self.left = STEPS + STEPS_A_CHARACTER * size
        self.largest = max(LARGEST, 2 * size)

    def spend(self, steps: int) -> None:
        """Raises Unreadable once there are no steps left, and from then on each time."""
        self.left -= steps
        if self.left < 0:
            raise Unreadable("it takes too much work to be told")

    def copy(self, characters: int, steps: int = 1) -> None:
        """Spend what texts of so many characters cost, beside `steps`."""
        self.spend(steps + characters // _FREE)
