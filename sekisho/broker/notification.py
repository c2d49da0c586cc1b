"""One notification, in a process of its own: `python -I -m sekisho.broker.notification`, a `Notification` on
standard input.

Whatever it waits for, loads or breaks on, the gatekeeper goes on deciding. Addresses may hold a login: they
come in by a pipe, and nothing that is printed names one.
"""

import logging
import sys

import msgspec

from sekisho.sending.credentials import CredentialError, fetch

LOOKED_UP = ("env:", "cmd:")


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """`places` are as policy writes them: a URL as apprise reads it, or where that URL is."""

    places: tuple[str, ...]
    title: str
    body: str


def main() -> None:
    """Send it to each place; a line on standard output for each that did not take it."""
    logging.disable(logging.CRITICAL)  # the library's own words name addresses
    told = msgspec.json.decode(sys.stdin.buffer.read(), type=Notification)
    for number, place in enumerate(told.places, 1):
        if why := _send(place, told):
            print(f"place {number} of {len(told.places)}: {why}")


def _send(place: str, told: Notification) -> str | None:
    from apprise import Apprise, AppriseAsset

    try:
        url = fetch(place) if place.startswith(LOOKED_UP) else place
        services = Apprise(asset=AppriseAsset(app_id="sekisho", secure_logging=True))
        if not services.add(url):
            return "it is no address that apprise knows"
        return None if services.notify(title=told.title, body=told.body) else "it was not delivered"
    except CredentialError as error:
        return str(error)
    except Exception as error:
        return type(error).__name__  # its text may name the address


if __name__ == "__main__":
    main()
