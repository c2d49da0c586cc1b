"""A request in canonical form, as the kinds look at it, and what they find. Pure."""

from typing import Any

import msgspec

from netpolicy import headers
from netpolicy.content import MAX_DECODED, Unreadable, decoded, parse_form, parse_json
from netpolicy.headers import Headers
from netpolicy.query import Query
from netpolicy.request import Request
from sekisho.core.action import Effect, Stakes

BODYLESS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class BodyNeeded(Exception):
    """The class depends on a body that has not been read; at most `limit` bytes of it are looked at."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class Finding(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a kind made of a call. What it leaves out, the general rules fill in."""

    effect: Effect
    reason: str
    code: str = ""
    verb: str | None = None
    target: str | None = None
    detail: dict[str, Any] = {}
    stakes: Stakes | None = None
    reversible: bool = False
    checkable: bool = False
    sensitive: bool = False
    rule: str = ""
    source: str = "built-in"
    by_url: bool = True  # False: what holds it is none of what a rule about its URL could answer for


class Call:
    """`method` is upper-case, `host` and `path` canonical; `query` and `body` are decoded once.

    `final` says that no more of the body will come: what is missing then is unreadable, not needed.
    """

    __slots__ = ("_body", "_json", "fields", "final", "headers", "host", "method", "path", "query", "request")

    def __init__(
        self,
        request: Request,
        *,
        host: str,
        path: str,
        query: Query,
        final: bool = False,
        given: Headers | None = None,
    ) -> None:
        self.request = request
        self.method = request.method.upper()
        self.host = host
        self.path = path
        self.query = query
        self.final = final
        self.headers = headers.of(request.headers) if given is None else given
        self.fields = self.headers.fields
        self._body: bytes | None = None
        self._json: Any = Call

    def at(self, path: str) -> "Call":
        """The same call with another reading of its path."""
        return self._variant(self.request, path)

    def by(self, method: str) -> "Call":
        """The same call by another method."""
        return self._variant(msgspec.structs.replace(self.request, method=method), self.path)

    def _variant(self, request: Request, path: str) -> "Call":
        other = Call(
            request,
            host=self.host,
            path=path,
            query=self.query,
            final=self.final,
            given=self.headers,
        )
        other._body, other._json = self._body, self._json
        return other

    def header(self, name: str) -> str:
        """The first value of a header (lower-case name), empty if there is none."""
        values = self.fields.get(name)
        return values[0] if values else ""

    def values(self, name: str) -> list[str]:
        """Every value of a header (lower-case name)."""
        return self.fields.get(name, [])

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def secure(self) -> bool:
        """Whether it goes by TLS to the usual port."""
        return self.request.scheme in ("https", "wss") and self.request.port == 443

    @property
    def has_body(self) -> bool:
        """Whether a body comes, as far as the headers or the body tell."""
        if self.request.body is not None and (self.request.body_size or 0) <= len(self.request.body):
            return bool(self.request.body)
        if self.request.body_size is not None:
            return self.request.body_size > 0
        length = self.header("content-length").strip()
        return "transfer-encoding" in self.fields or length not in ("", "0")

    def head(self, limit: int = MAX_DECODED) -> bytes:
        """As much of the body as is there, content codings undone where it is whole.

        Raises BodyNeeded while it has not been read, Unreadable if it cannot be decoded.
        """
        if self._body is None:
            raw = self.request.body
            if raw is None:
                if not self.has_body:
                    raw = b""
                elif self.final:
                    raise Unreadable("the body is too large to be looked at")
                else:
                    raise BodyNeeded(limit)
            codings = self.values("content-encoding")
            self._body = decoded(raw, codings) if codings else raw
        return self._body

    @property
    def body(self) -> bytes:
        """The whole body, content codings undone. Raises BodyNeeded or Unreadable."""
        raw = self.request.body
        size = self.request.body_size
        if raw is not None and size is not None and size > len(raw):
            raise Unreadable("the body is too large to be looked at")
        return self.head()

    def json(self) -> Any:
        """The body as JSON. Raises BodyNeeded or Unreadable."""
        if self._json is Call:
            self._json = parse_json(self.body)
        return self._json

    def form(self) -> Query:
        """The body as a form if it says so, else an empty one. Raises BodyNeeded or Unreadable."""
        if self.media_type != "application/x-www-form-urlencoded":
            return Query()
        return parse_form(self.body)

    def parameters(self, *keys: str) -> list[str]:
        """The values of parameters, from the query and a form body."""
        found = self.query.all(*keys)
        if self.method == "POST" and self.has_body:
            found += self.form().all(*keys)
        return found


def read(reason: str, **more: Any) -> Finding:
    """A finding of a read."""
    return Finding(effect=Effect.READ, reason=reason, **more)


def external(reason: str, **more: Any) -> Finding:
    """A finding of an act that changes something outside."""
    return Finding(effect=Effect.EXTERNAL, reason=reason, **more)


def unknown(reason: str, **more: Any) -> Finding:
    """A finding that the effect cannot be told."""
    return Finding(effect=Effect.UNKNOWN, reason=reason, **more)


def forbidden(reason: str, **more: Any) -> Finding:
    """A finding of what is never done."""
    return Finding(effect=Effect.FORBIDDEN, reason=reason, **more)


def dropped(reason: str = "telemetry: dropped, nothing is queued", **more: Any) -> Finding:
    """A finding of telemetry: denied without a hold."""
    return Finding(effect=Effect.EXTERNAL, code="telemetry-dropped", reason=reason, **more)
