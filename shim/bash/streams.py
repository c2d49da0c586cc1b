"""What is connected to a command while a script is walked."""

import msgspec

from shim.text import HOLE


class Streams(msgspec.Struct):
    """`stdin` None: nothing is known to be connected. `out` None: nobody looks at what is printed."""

    stdin: str | None = None
    out: list[str] | None = None

    def printed(self) -> int:
        """A mark: how much has been printed so far."""
        return len(self.out or ())

    def either_since(self, mark: int) -> None:
        """After branches: if they printed something, which of it is printed is not known."""
        if self.out is not None and len(self.out) > mark:
            self.out[mark:] = [HOLE]
