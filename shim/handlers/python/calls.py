"""What the calls of Python code do, by their dotted names."""

import ast
import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.python.names import STDLIB
from shim.handlers.python.network import NetworkCalls
from shim.text import HOLE, known

_PATH_METHODS = frozenset(
    ("unlink", "rmdir", "write_text", "write_bytes", "rmtree", "rename", "touch", "hardlink_to")
)


def judge_code(call: Call, text: str) -> None:
    """Notes what Python code would do."""
    if not known(text):
        call.unknown("python", "the code cannot be told", code="dynamic-command")
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call.unknown("python", "the code cannot be read", code="unreadable-code")
        return
    call.does(Effect.READ, "python", "code that computes and prints", verb="python")
    _Calls(call).visit(tree)


class _Calls(NetworkCalls):
    """Judges each call where it stands."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self.dotted(node)
        if self._kind(name) in ("shell", "argv", "delete", "unknown", "external"):
            self.call.unknown(name, "a function that acts is handed on", code="dynamic-command")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and self._kind(self.dotted(node)) in (
            "shell",
            "argv",
            "delete",
            "unknown",
        ):
            self.call.unknown(node.id, "a function that acts is handed on", code="dynamic-command")

    def visit_Call(self, node: ast.Call) -> None:
        name = self.dotted(node.func)
        self._judge(name, node)
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value) if not isinstance(node.func.value, ast.Name) else None
        elif not isinstance(node.func, ast.Name):
            self.call.unknown(name, "which function is called cannot be told", code="dynamic-command")
            self.visit(node.func)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.visit(argument)

    def _judge(self, name: str, node: ast.Call) -> None:
        kind = self._kind(name)
        act = getattr(self, f"_{kind}", None) if kind else None
        if act is not None:
            act(name, node)
        elif re.match(r"(requests|httpx)(\.Session\(\)|\.Client\(\)|\.session\(\))?\.\w+$", name):
            self._http(name, node)
        elif name.rsplit(".", 1)[-1] in _PATH_METHODS and name.split(".")[0] not in STDLIB:
            self.call.unknown(
                name, "a method that writes or deletes, of what cannot be told", code="dynamic-target"
            )
        elif name.startswith(("smtplib.", "ftplib.", "paramiko.", "telnetlib.", "imaplib.")):
            self._mailer(name, node)

    def _shell(self, name: str, node: ast.Call) -> None:
        self.call.shell(self._text(node, 0, "cmd"), name="python")

    def _argv(self, name: str, node: ast.Call) -> None:
        if name.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
            self._exec(name, node)
            return
        if name == "asyncio.create_subprocess_exec":
            self.call.runs([self._text(node, at) for at in range(len(node.args))] or [HOLE])
            return
        command = self.argument(node, 0, "args")
        shell = self._keyword(node, "shell")
        if isinstance(command, str) and known(command):
            is_shell = shell is not None or " " not in command or name.startswith(("pexpect", "pty"))
            self.call.shell(command, name="python") if is_shell else self.call.runs(command.split())
        elif isinstance(command, list) and command:
            self.call.runs(["sh", "-c", *command] if shell is not None else command)
        else:
            self.call.unknown(name, "the command cannot be told", code="dynamic-command")

    def _exec(self, name: str, node: ast.Call) -> None:
        skip = 1 if name.startswith("os.spawn") else 0
        listed = self.argument(node, skip + 1)
        program = self._text(node, skip)
        if isinstance(listed, list):
            self.call.runs([program, *listed[1:]])
        else:
            rest = [self._text(node, at) for at in range(skip + 2, len(node.args))]
            self.call.runs([program, *rest])

    def _path(self, node: ast.Call) -> str:
        """The path a method of a Path object, or a function's first argument, is about."""
        if isinstance(node.func, ast.Attribute) and self.dotted(node.func).startswith("pathlib.Path()"):
            base = self.value(node.func.value)
            return base if isinstance(base, str) else HOLE
        return self._text(node, 0)

    def _delete(self, name: str, node: ast.Call) -> None:
        self.call.deletes([self._path(node)])

    def _write(self, name: str, node: ast.Call) -> None:
        self.call.writes(self._path(node))

    def _target(self, name: str, node: ast.Call) -> None:
        at = 0 if name.startswith("pathlib.") else 1
        self.call.writes(self._text(node, at))

    def _local(self, name: str, node: ast.Call) -> None:
        self.call.does(Effect.LOCAL, self._path(node), f"{name} changes local files")

    def _open(self, name: str, node: ast.Call) -> None:
        method = name.startswith("pathlib.")
        mode = self.argument(node, 0 if method else 1, "mode")
        if mode is None and len(node.args) <= (0 if method else 1) and self._keyword(node, "mode") is None:
            return
        text = mode if isinstance(mode, str) else HOLE
        if not known(text):
            self.call.unknown(name, "how the file is opened cannot be told", code="dynamic-command")
        elif any(letter in text for letter in "wax+"):
            self.call.writes(self._path(node), append="a" in text or "x" in text)

    def _unknown(self, name: str, node: ast.Call) -> None:
        literal = self.argument(node, 0)
        if name in ("exec", "eval", "compile") and isinstance(literal, str) and known(literal):
            judge_code(self.call, literal)
        elif name == "getattr" and isinstance(self.argument(node, 1), str) and known(self._text(node, 1)):
            target = f"{self.dotted(node.args[0])}.{self._text(node, 1)}"
            if self._kind(target):
                self.call.unknown(target, "a function that acts is handed on", code="dynamic-command")
        elif (
            name in ("__import__", "importlib.import_module") and isinstance(literal, str) and known(literal)
        ):
            self._imported(literal)
        else:
            self.call.unknown(name, f"what {name} does cannot be told", code="dynamic-command")
