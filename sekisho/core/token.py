"""What an approval is bound to, and its seal.

The seal is HMAC-SHA256 over the canonical JSON of the binding, with a prefix that keeps it apart
from any other use of the same key. Canonical JSON follows RFC 8785 (keys sorted by UTF-16 code
units, no white space, shortest escapes) for texts, integers, booleans, null, lists and objects;
floats have no single spelling worth trusting and are refused.
"""

import hashlib
import hmac
import json
from typing import Any

import msgspec

_PREFIX = b"sekisho approval v1\x00"
_VERSION = "v1."
_LEAST_KEY = 32


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """One approval: this act, on this target, with this content, until then, by that person, once.

    `digest` is the artifact's, as `sha256:` and hex; `expires_at` is in whole seconds since the
    epoch; `nonce` is different for each approval.
    """

    action: str
    target: str
    digest: str
    expires_at: int
    approver: str
    nonce: str


def canonical(value: Any) -> bytes:
    """Canonical JSON as UTF-8.

    Raises TypeError for a type that has no canonical form, ValueError for a text that is not valid
    Unicode and for data nested too deeply.
    """
    try:
        return _render(value).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a text holds a lone surrogate, which has no canonical form") from None
    except RecursionError:
        raise ValueError("the data is nested too deeply") from None


def _render(value: Any) -> str:
    match value:
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return int.__repr__(value)
        case list() | tuple():
            return "[" + ",".join(_render(item) for item in value) + "]"
        case dict():
            return "{" + ",".join(_render_member(key, value[key]) for key in _sorted_keys(value)) + "}"
        case _:
            raise TypeError(f"{type(value).__name__} has no canonical form")


def _render_member(key: str, value: Any) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}:{_render(value)}"


def _sorted_keys(value: dict[Any, Any]) -> list[str]:
    if not all(isinstance(key, str) for key in value):
        raise TypeError("a key that is not text has no canonical form")
    return sorted(value, key=lambda key: key.encode("utf-16-be"))


def _mac(key: bytes, binding: Binding) -> str:
    if len(key) < _LEAST_KEY:
        raise ValueError(f"a signing key has at least {_LEAST_KEY} bytes")
    message = _PREFIX + canonical(msgspec.structs.asdict(binding))
    return _VERSION + hmac.new(key, message, hashlib.sha256).hexdigest()


def sign(key: bytes, binding: Binding) -> str:
    """The token of a binding: `v1.` and 64 hex digits. Raises ValueError for a key under 32 bytes."""
    return _mac(key, binding)


def verify(key: bytes, binding: Binding, token: str) -> bool:
    """Whether the token seals exactly this binding; whether it has expired is the caller's to check."""
    return hmac.compare_digest(_mac(key, binding).encode(), token.encode("utf-8", "surrogatepass"))
