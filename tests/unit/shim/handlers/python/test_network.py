"""Requests of Python code: judged once, where they are made, unless what opens them adds a body."""

import pytest

from sekisho.core.action import Effect
from shim.context import Context
from shim.observe import observe

IMPORTS = "from urllib.request import Request, urlopen\n"


@pytest.mark.parametrize(
    ("code", "effect"),
    [
        ("urlopen('https://a.example/x')", Effect.READ),
        ("urlopen('https://a.example/x', None)", Effect.READ),
        ("urlopen('https://a.example/x', b'd')", Effect.EXTERNAL),
        ("urlopen(Request('https://a.example/x'))", Effect.READ),
        ("r = Request('https://a.example/x'); urlopen(r)", Effect.READ),
        ("r = Request('https://a.example/x', b'd'); urlopen(r)", Effect.EXTERNAL),
        ("urlopen(Request('https://a.example/x'), b'd')", Effect.UNKNOWN),
        ("def f(RequestUrl):\n  urlopen(RequestUrl, data=b'd')", Effect.UNKNOWN),
    ],
)
def test_opening_a_url(code: str, effect: Effect) -> None:
    assert observe(("python3", "-c", IMPORTS + code), Context(cwd="/w")).effect is effect
