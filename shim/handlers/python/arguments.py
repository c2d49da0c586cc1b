"""What calls of Python code are given, and which kind of function is called."""

import ast

from shim.handlers.python.names import Names, Value
from shim.text import HOLE


class Arguments(Names):
    """Looks at single calls."""

    def _kind(self, name: str) -> str:
        for kind, names in self.kinds.items():
            if kind not in ("harmless", "acting") and name in names:
                return kind
        return "unknown" if name.split(".")[0] in ("ctypes", "cffi", "importlib", "runpy", "code") else ""

    def argument(self, node: ast.Call, position: int, keyword: str = "") -> Value:
        for item in node.keywords:
            if item.arg == keyword and keyword:
                return self.value(item.value)
        return self.value(node.args[position]) if len(node.args) > position else None

    def _text(self, node: ast.Call, position: int, keyword: str = "") -> str:
        found = self.argument(node, position, keyword)
        return found if isinstance(found, str) else HOLE

    def _keyword(self, node: ast.Call, name: str) -> ast.expr | None:
        return next((item.value for item in node.keywords if item.arg == name), None)
