"""An API that does nothing but count and note: what tests and the demo send their writes to."""

import base64
from collections.abc import Iterator
from itertools import count

from sekisho.demo.exchange import Exchange

_ECHO_LIMIT = 1 << 20
_MEBIBYTE = bytes(1 << 20)
_FOREVER = 1 << 31


class Api:
    """Answers any path with JSON that holds a running number; a few paths behave in special ways.

    `/echo` (the request as JSON, body in base64), `/events?n=&every=` (server-sent events, one a
    second), `/big?mb=` (a download), `/slow?s=`, `/redirect?to=`, `/status/N`, `/upgrade` (101, then
    bytes come back as they were sent).
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._special = {
            "/echo": _echo,
            "/events": _events,
            "/big": _big,
            "/slow": _slow,
            "/redirect": _redirect,
            "/upgrade": _upgrade,
        }

    def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        special = self._special.get(exchange.path)
        if special:
            special(exchange)
        elif exchange.path.startswith("/status/"):
            _status(exchange)
        else:
            self._count(exchange)

    def _count(self, exchange: Exchange) -> None:
        exchange.body.drain()
        body = exchange.body
        answer = {
            "number": next(self._numbers),
            "method": exchange.head.method,
            "path": exchange.target,
            "size": body.size,
            "sha256": body.sha256,
        }
        exchange.reply_json(201 if exchange.head.method == "POST" else 200, answer)


def _echo(exchange: Exchange) -> None:
    content = exchange.body.drain(keep=_ECHO_LIMIT)
    answer = {
        "method": exchange.head.method,
        "path": exchange.target,
        "headers": exchange.head.headers,
        "size": exchange.body.size,
        "body": base64.b64encode(content).decode(),
    }
    exchange.reply_json(200, answer)


def _events(exchange: Exchange) -> None:
    total = int(exchange.query.get("n", _FOREVER))
    every = float(exchange.query.get("every", 1))

    def events() -> Iterator[bytes]:
        for number in range(1, total + 1):
            yield b"id: %d\ndata: event %d\n\n" % (number, number)
            if number < total and exchange.link.stopping.wait(every):
                return

    headers = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]
    exchange.stream(200, headers, events())


def _big(exchange: Exchange) -> None:
    exchange.body.drain()
    exchange.send_sized(200, int(exchange.query.get("mb", 1)) << 20, _MEBIBYTE)


def _slow(exchange: Exchange) -> None:
    exchange.body.drain()
    exchange.link.stopping.wait(float(exchange.query.get("s", 1)))
    exchange.reply_json(200, {"slow": True})


def _redirect(exchange: Exchange) -> None:
    exchange.reply(302, b"moved\n", Location=exchange.query.get("to", "/"))


def _status(exchange: Exchange) -> None:
    text = exchange.path.removeprefix("/status/")
    status = int(text) if text.isdigit() and 200 <= int(text) <= 599 else 400
    exchange.reply(status, b"" if status in (204, 304) else b"status as asked\n")


def _upgrade(exchange: Exchange) -> None:
    exchange.body.drain()
    token = exchange.head.header("upgrade", "raw")
    exchange.switch([("Upgrade", token), ("Connection", "Upgrade")])
    while block := exchange.link.reader.read1(65536):
        exchange.link.sock.sendall(block)
