"""A request as it stood on the wire: the input of every network decision. Pure data."""

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request.

    Texts are latin-1 decoded wire bytes, never normalised: normalising is part of deciding.

    `method` keeps its spelling. `host` and `port` are where it would be dialled (the CONNECT target,
    the captured name, or the absolute-form authority). `path` is the origin-form target with its
    query. `connect` and `sni` are what the tunnel around it named, if there was one. `body` is None
    while it has not been read, or when it was too large to be looked at; `body_size` is in bytes
    where known. `local` means that it came in on the listener of a named port of the person's machine,
    which `host` and `port` then are.
    """

    method: str
    scheme: str
    host: str
    port: int
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    body_size: int | None = None
    connect: str | None = None
    sni: str | None = None
    authority: str | None = None
    http_version: str = "1.1"
    local: bool = False

    def header(self, name: str) -> str | None:
        """The first value of a header, by its case-insensitive name."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def header_values(self, name: str) -> list[str]:
        """All values of a header, in wire order."""
        wanted = name.lower()
        return [value for key, value in self.headers if key.lower() == wanted]

    @property
    def url(self) -> str:
        """The address as a person reads it; a default port is left out."""
        default = {"http": 80, "https": 443}.get(self.scheme)
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == default else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"
