"""Durations, sizes and rates as people write them: `1h30m`, `4G`, `60/m`.

Grammar: a duration is one or more of a number and a unit (`ms s m h d w`), each unit once and the
larger first. A size is one number and a unit; `K M G T` and `KiB MiB GiB TiB` count in 1024 as
memory limits do, `KB MB GB TB` in 1000, `B` or nothing is bytes. A rate is `COUNT/DURATION`, where
the duration may be a unit alone. Every reader raises `ValueError` with a sentence a person can use.
"""

import re
from itertools import pairwise

_SECONDS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_BYTES = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", start=1):
    _BYTES[_letter] = _BYTES[_letter + "ib"] = 1024**_power
    _BYTES[_letter + "b"] = 1000**_power

_PART = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*(ms|[wdhms])", re.ASCII)
_DURATION = re.compile(rf"{_PART.pattern}(?:\s*{_PART.pattern})*", re.ASCII)
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]{0,3})", re.ASCII)
_RATE = re.compile(r"(\d{1,9})\s*/\s*(.+)", re.ASCII)


def duration(text: str) -> float:
    """Seconds of `30m`, `1h30m`, `500ms`; always more than zero."""
    text = text.strip()
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration; write it as 90s, 30m, 1h30m or 14d")
    parts = _PART.findall(text)
    scales = [_SECONDS[unit] for _, unit in parts]
    if any(later >= earlier for earlier, later in pairwise(scales)):
        raise ValueError(f"{text!r} is not a duration; each unit stands once and the larger comes first")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds <= 0:
        raise ValueError(f"{text!r} is no time at all; a duration is more than zero")
    return seconds


def size(text: str) -> int:
    """Bytes of `4G`, `512MiB`, `1.5K`; always at least one."""
    match = _SIZE.fullmatch(text.strip())
    scale = _BYTES.get(match[2].lower()) if match else None
    if match is None or scale is None:
        raise ValueError(f"{text!r} is not a size; write it as 512M or 4G")
    count = int(float(match[1]) * scale) if "." in match[1] else int(match[1]) * scale
    if count < 1:
        raise ValueError(f"{text!r} is less than one byte")
    return count


def rate(text: str) -> tuple[int, float]:
    """`60/m` as (60, 60.0): so many times in so many seconds; the count is at least one."""
    match = _RATE.fullmatch(text.strip())
    if match is None or int(match[1]) < 1:
        raise ValueError(f"{text!r} is not a rate; write it as 60/m or 5/10m")
    per = match[2].strip()
    return int(match[1]), _SECONDS[per] if per in _SECONDS else duration(per)


def render_duration(seconds: float) -> str:
    """The shortest exact spelling down to milliseconds; `duration` reads it back."""
    rest = max(1, round(seconds * 1000))
    parts = []
    for unit, scale in _SECONDS.items():
        count, rest = divmod(rest, round(scale * 1000))
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def render_size(count: int) -> str:
    """The largest binary unit that is exact; `size` reads it back."""
    for letter in "tgmk":
        if count and count % _BYTES[letter] == 0:
            return f"{count // _BYTES[letter]}{letter.upper()}"
    return f"{count}B"


def render_rate(count: int, seconds: float) -> str:
    """`60/m`; `rate` reads it back."""
    unit = next((name for name, scale in _SECONDS.items() if scale == seconds), None)
    return f"{count}/{unit or render_duration(seconds)}"
