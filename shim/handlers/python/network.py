"""What the calls of Python code do outside."""

import ast

from sekisho.core.action import Effect
from shim.address import is_loopback_host
from shim.handlers.http.request import request
from shim.handlers.python.arguments import Arguments


class NetworkCalls(Arguments):
    """Judges calls of network libraries, each method those of one kind."""

    def _urlopen(self, name: str, node: ast.Call) -> None:
        data = self._keyword(node, "data") or (node.args[1] if len(node.args) > 1 else None)
        method = self._text(node, 5, "method") if self._keyword(node, "method") is not None else None
        posts = data is not None and not (isinstance(data, ast.Constant) and data.value is None)
        made = self.dotted(node.args[0]) if node.args else ""
        if made.endswith("()") and self._kind(made[:-2]) == "urlopen" and not posts:
            return  # a request, which was judged where it was made
        request(self.call, method or ("POST" if posts else "GET"), self._text(node, 0, "url"))
        if name.endswith("urlretrieve"):
            self.call.writes(self._text(node, 1, "filename"))

    def _http(self, name: str, node: ast.Call) -> None:
        verb = name.rsplit(".", 1)[-1]
        if verb in ("get", "head", "options", "post", "put", "patch", "delete"):
            request(self.call, verb.upper(), self._text(node, 0, "url"))
        elif verb in ("request", "stream"):
            request(self.call, self._text(node, 0, "method").upper(), self._text(node, 1, "url"))
        elif verb not in (
            "Session",
            "session",
            "Client",
            "codes",
            "exceptions",
            "close",
            "mount",
            "Timeout",
            "update",
        ):
            self.call.unknown(name, f"{name} is not classified", code="unlisted-tool")

    def _mailer(self, name: str, node: ast.Call) -> None:
        method = name.rsplit(".", 1)[-1]
        first = self._text(node, 0, "host")
        if "()" not in name:
            if not is_loopback_host(first):
                self.call.does(Effect.EXTERNAL, first, f"{name} talks to another machine", code="no-wire")
        elif method in (
            "sendmail",
            "send_message",
            "storbinary",
            "storlines",
            "delete",
            "exec_command",
            "append",
        ):
            self.call.does(Effect.EXTERNAL, name, "sends or changes something outside", code="sends-message")

    def _external(self, name: str, node: ast.Call) -> None:
        address = self.argument(node, 0)
        host = address[0] if isinstance(address, list) and address else address
        if isinstance(host, str) and is_loopback_host(host):
            self.call.does(Effect.LOCAL, host, "talks to this machine")
        else:
            self.call.does(
                Effect.EXTERNAL,
                host if isinstance(host, str) else name,
                "talks to another machine",
                code="no-wire",
            )
