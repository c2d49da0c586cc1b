"""The form in which every kind shows what it decides; one test runs them all."""

import msgspec

from sekisho.core.action import Effect


class Example(msgspec.Struct, frozen=True):
    """A request `METHOD TARGET` to a host declared as `kind`, and its effect."""

    kind: str
    request: str
    effect: Effect
    body: bytes = b""
    headers: dict[str, str] = {}


JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
XML = {"content-type": "text/xml"}
READ, EXTERNAL, UNKNOWN = Effect.READ, Effect.EXTERNAL, Effect.UNKNOWN
