"""What is looked at of a body that a request brought."""

from netpolicy.ports import Body


def beginning(body: Body, limit: int) -> bytes | None:
    """The body if it is in memory, else its first `limit` bytes; None where it is nowhere."""
    if body.data is not None or body.path is None:
        return body.data
    with body.path.open("rb") as file:
        return file.read(limit)
