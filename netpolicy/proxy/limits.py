"""The numbers that keep one client from using up the gatekeeper. Sizes in bytes, times in seconds."""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one proxy; the defaults suit an agent's tools."""

    head: int = 64 * 1024  # a request's line and headers
    fields: int = 200  # header lines of a request
    response_head: int = 256 * 1024
    connections: int = 256  # open at once, a session
    first_request: float = 30.0  # from the connection to its first complete request head
    body: float = 900.0  # a whole request body, however steadily it comes
    idle: float = 1800.0  # without a byte in either direction; long, for models that think
    dial: float = 20.0  # one attempt to connect
    handshake: float = 20.0  # TLS with the upstream
    spool_memory: int = 1024 * 1024  # of a collected body; the rest goes to a file
    linger: int = 8 * 1024 * 1024  # of a body that nobody wants any more, read so that the answer arrives
    advertisement: int = 64 * 1024 * 1024  # a git advertisement that is rewritten
    websocket_message: int = 64 * 1024 * 1024
    names: int = 20_000  # made-up addresses, a session


LIMITS = Limits()
