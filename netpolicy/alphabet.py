"""Runs of an encoding's characters in a text: where they are. Pure."""

from collections.abc import Iterator

Span = tuple[int, int]

_SPACE = ord(" ")
_STRIDE = 4  # no divisor of a decoded group (3 bytes in base64, 5 in base32), in which patterns repeat


class Alphabet:
    """Finds the runs of its characters, which are letters, digits and punctuation, no space."""

    def __init__(self, characters: str) -> None:
        within = [chr(code) in characters for code in range(256)]
        self._or_space = bytes(code if here else _SPACE for code, here in enumerate(within))
        self._marked = bytes(within)

    def lacks(self, data: bytes, shortest: int) -> bool:
        """Whether a first look sees that there is no run of at least `shortest` characters.

        Such a run covers that many places in a row, so of every `_STRIDE` one: most texts, and noise, are
        told by looking only there.
        """
        return b"\x01" * (shortest // _STRIDE) not in data[_STRIDE - 1 :: _STRIDE].translate(self._marked)

    def spans(self, data: bytes, shortest: int, stride: int = _STRIDE) -> Iterator[Span]:
        """Where whole runs of at least `shortest` characters are; a smaller `stride` is misled less often."""
        marks = data[stride - 1 :: stride].translate(self._marked)
        wanted = b"\x01" * (shortest // stride)
        covered = (len(wanted) - 1) * stride + 1
        at, end = marks.find(wanted), 0
        spaced = self.spaced(data) if at >= 0 else b""
        while at >= 0:
            place = (at + 1) * stride - 1
            gap = spaced.rfind(b" ", place, place + covered)
            if gap < 0:
                start = spaced.rfind(b" ", end, place) + 1 or end
                gap = spaced.find(b" ", place)
                end = len(data) if gap < 0 else gap
                if end - start >= shortest:
                    yield start, end
                gap = end
            at = marks.find(wanted, (gap + 1) // stride)

    def runs(self, data: bytes, shortest: int) -> list[bytes]:
        """What stands at `spans`; many are cheaper to find by splitting."""
        marks = data[_STRIDE - 1 :: _STRIDE].translate(self._marked)
        wanted = b"\x01" * (shortest // _STRIDE)
        at = marks.find(wanted)
        if at < 0:
            return []
        spaced = self.spaced(data)
        start = spaced.rfind(b" ", 0, (at + 1) * _STRIDE - 1) + 1
        end = spaced.find(b" ", (marks.rfind(wanted) + 1) * _STRIDE - 1)
        words = spaced[start : len(data) if end < 0 else end].split()
        return [word for word in words if len(word) >= shortest]

    def spaced(self, data: bytes) -> bytes:
        """`data` with a space for each other character."""
        return data.translate(self._or_space)
