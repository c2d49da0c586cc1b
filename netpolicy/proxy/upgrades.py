"""Which protocol switches may happen: WebSocket, asked for and agreed to. Pure."""

from mitmproxy import http


def is_foreign(request: http.Request) -> bool:
    """Whether `request` asks for a switch that is never passed on; an offer of h2c is taken out of it."""
    upgrade = request.headers.get("upgrade")
    if upgrade is None:
        return False
    if upgrade.strip().lower() == "h2c":  # Java offers it with every plain request, and can do without
        for name in ("Upgrade", "HTTP2-Settings", "Connection"):
            request.headers.pop(name, None)
        return False
    return not is_websocket(request)


def is_websocket(request: http.Request) -> bool:
    """Whether `request` is an opening handshake of RFC 6455."""
    headers = request.headers
    return (
        request.data.method == b"GET"
        and headers.get("upgrade", "").strip().lower() == "websocket"
        and headers.get("sec-websocket-version", "").strip() == "13"
    )


def is_agreed(request: http.Request, response: http.Response) -> bool:
    """Whether a 101 `response` switches to what `request` asked for."""
    return is_websocket(request) and response.headers.get("upgrade", "").strip().lower() == "websocket"
