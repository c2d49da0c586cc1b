"""Python on a command line: the code is parsed, its calls are resolved to dotted names and judged."""

import ast
import re
import sys
from collections.abc import Callable

from sekisho.core.action import Effect
from shim.address import is_loopback_host
from shim.call import Call, Handler
from shim.grammar import table
from shim.handlers.http.request import request
from shim.options import parse, spec
from shim.text import HOLE, known

_PYTHON = spec("-c -m -W -X --check-hash-based-pycs", stop=True)
_STDLIB = frozenset(sys.stdlib_module_names)
_PATH_METHODS = frozenset(
    ("unlink", "rmdir", "write_text", "write_bytes", "rmtree", "rename", "touch", "hardlink_to")
)
Value = str | list[str] | None


def python(call: Call) -> str | None:
    """`python -c CODE`, `-m MODULE`, a file, or code on the input."""
    arguments = _up_to_code(call.arguments)
    parsed = parse(arguments, _PYTHON)
    if parsed.has("-V", "--version", "-h", "--help", "-VV", "--help-all"):
        call.does(Effect.READ, "python", "prints help")
        return HOLE
    code, module = parsed.last("-c"), parsed.last("-m")
    if code is not None:
        judge_code(call, code)
    elif module is not None:
        return _module(
            call,
            module,
            call.arguments[call.arguments.index(module) + 1 :] if module in call.arguments else parsed.words,
        )
    elif parsed.words[:1] and parsed.words[0] not in ("-", "/dev/stdin"):
        _file(call, parsed.words)
    elif call.stdin is not None:
        judge_code(call, call.stdin)
    else:
        call.unknown("python", "an interactive session", code="dynamic-command")
    return HOLE


def _up_to_code(arguments: list[str]) -> list[str]:
    """What follows -c CODE or -m MODULE belongs to the program."""
    for position, word in enumerate(arguments):
        if not word.startswith("-") or word == "-":
            return arguments
        if re.fullmatch(r"-[a-zA-Z]*[cm]", word):
            return arguments[: position + 2]
    return arguments


def _file(call: Call, words: list[str]) -> None:
    text = call.state.written.get(call.state.resolve(words[0]))
    name = words[0].rsplit("/", 1)[-1]
    if text is not None and known(text):
        judge_code(call, text)
    elif name == "setup.py":
        _setup(call, words[1:])
    elif (
        name == "manage.py"
        and words[1:2]
        and words[1]
        in ("test", "check", "runserver", "makemigrations", "showmigrations", "collectstatic", "diffsettings")
    ):
        call.does(Effect.LOCAL, " ".join(words[:2]), "runs the project's tests or server")
    else:
        call.unknown(words[0], "what the program does is in the file", code="script-body")


def _setup(call: Call, commands: list[str]) -> None:
    verbs = [word for word in commands if not word.startswith("-")]
    if any(verb in ("upload", "register", "upload_docs") for verb in verbs):
        call.does(Effect.EXTERNAL, "setup.py upload", "publishes a package", code="publishes")
    else:
        call.does(Effect.LOCAL, "setup.py", "builds or installs")


_READING = table("python_modules")["read"]
_LOCAL = table("python_modules")["local"]


def _module(call: Call, module: str, rest: list[str]) -> str | None:
    rest = rest[1:] if rest[:1] == ["--"] else rest
    if not known(module):
        call.unknown("python -m", "which module runs cannot be told", code="dynamic-command")
        return HOLE
    if module == "timeit":
        for text in [word for word in rest if not word.startswith("-")]:
            judge_code(call, text)
        call.does(Effect.READ, module, "times code")
    elif module == "json.tool":
        call.does(Effect.READ, module, "prints JSON")
        for path in parse(rest, spec("--indent")).words[1:2]:
            call.writes(path)
    elif module in _READING:
        call.does(Effect.READ, module, "prints")
    elif module in _LOCAL:
        call.does(Effect.LOCAL, module, "works on local files")
    else:
        return call.runs(
            [module.replace("_", "-") if module == "pre_commit" else module, *rest], stdin=call.stdin
        )
    return HOLE


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
    _Code(call).visit(tree)


class _Code(ast.NodeVisitor):
    """Walks code in order, keeping what names stand for."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}
        self.places: dict[str, Value] = {}
        self.kinds = table("python")

    # -- names -----------------------------------------------------------------------------------
    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(alias.name)
            self.names[alias.asname or alias.name.split(".")[0]] = (
                alias.name if alias.asname else alias.name.split(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self._imported(module)
        for alias in node.names:
            if alias.name == "*":
                self.call.unknown(module, "all names of a module are taken over", code="dynamic-command")
            self.names[alias.asname or alias.name] = f"{module}.{alias.name}"

    def _imported(self, module: str) -> None:
        top = module.split(".")[0]
        if module.split(".")[0] in self.kinds["acting"]:
            self.call.unknown(module, f"{module} can act outside", code="unlisted-tool")
        elif top not in _STDLIB and top not in self.kinds["harmless"]:
            self.call.unknown(module, f"the module {module} is not classified", code="unlisted-tool")

    def dotted(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self.dotted(node.value)}.{node.attr}"
        if isinstance(node, ast.Call):
            name = self.dotted(node.func)
            if name in ("__import__", "importlib.import_module") and node.args:
                module = self.value(node.args[0])
                return module if isinstance(module, str) and known(module) else "?"
            return f"{name}()"
        if isinstance(node, ast.BinOp):
            return self.dotted(node.left)
        return "?"

    def value(self, node: ast.expr | None) -> Value:
        """A text or a list of texts, as far as literals decide it."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            return node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        if isinstance(node, (ast.List, ast.Tuple)):
            return [text if isinstance(text := self.value(item), str) else HOLE for item in node.elts]
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._piece(piece) for piece in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            return self._joined(node)
        if isinstance(node, ast.Call):
            return self._of_call(node)
        return None

    def _piece(self, piece: ast.expr) -> str:
        inner = piece.value if isinstance(piece, ast.FormattedValue) else piece
        text = self.value(inner)
        return text if isinstance(text, str) else HOLE

    def _joined(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        glue = "/" if isinstance(node.op, ast.Div) else ""
        if isinstance(left, list) and isinstance(right, list):
            return left + right
        parts = [part if isinstance(part, str) else HOLE for part in (left, right)]
        return glue.join(parts)

    def _of_call(self, node: ast.Call) -> Value:
        name = self.dotted(node.func)
        first = self.value(node.args[0]) if node.args else None
        if name in (
            "pathlib.Path",
            "pathlib.PurePath",
            "str",
            "os.fspath",
            "os.path.abspath",
            "os.path.expanduser",
        ):
            return first
        if name in ("os.path.join",):
            parts = [self.value(item) for item in node.args]
            return "/".join(part if isinstance(part, str) else HOLE for part in parts)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("split", "join", "format"):
            base = self.value(node.func.value)
            if isinstance(base, str) and node.func.attr == "split" and not node.args:
                return list(base.split())
            if isinstance(base, str) and node.func.attr == "join" and isinstance(first, list):
                return base.join(first)
        return HOLE if name.startswith("?") else None

    def visit_Assign(self, node: ast.Assign) -> None:
        self._bind(node.targets, node.value)
        self.visit(node.value) if not self._is_reference(node.value) else None

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._bind([node.target], node.value)
        self.visit(node.value)

    def _is_reference(self, node: ast.expr) -> bool:
        return isinstance(node, (ast.Name, ast.Attribute))

    def _bind(self, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Name):
                self.names[target.id] = self.dotted(value)
                self.values[target.id] = self.value(value)
                if isinstance(value, ast.Call) and value.args:
                    self.places[target.id] = self.value(value.args[0])

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name):
                self._bind([item.optional_vars], item.context_expr)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        values = self.value(node.iter)
        if isinstance(node.target, ast.Name):
            if isinstance(values, list) and 0 < len(values) <= 10:
                for one in values:
                    self.values[node.target.id] = one
                    for statement in node.body:
                        self.visit(statement)
                return
            self._each(node.target, node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._each(node.target, node.iter)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        for generator in node.generators:  # names are bound before they are used
            self.visit(generator)
        self.visit(node.elt)

    visit_SetComp = visit_GeneratorExp = visit_ListComp

    def _each(self, target: ast.expr, iterated: ast.expr) -> None:
        """Binds a loop's variable to a pattern that stands for what a folder listing gives."""
        if not isinstance(target, ast.Name):
            return
        name = self.dotted(iterated)
        self.values[target.id] = HOLE
        if not isinstance(iterated, ast.Call):
            return
        first = self.value(iterated.args[0]) if iterated.args else None
        given = first if isinstance(first, str) else HOLE
        if name.startswith("pathlib.Path().") and isinstance(iterated.func, ast.Attribute):
            base = self.value(iterated.func.value)
            self.names[target.id] = "pathlib.Path()"
            pattern = given if iterated.args else "*"
            self.values[target.id] = f"{base}/{pattern}" if isinstance(base, str) else HOLE
        elif name in ("os.listdir", "os.scandir"):
            self.values[target.id] = f"{given}/*" if iterated.args else "./*"
        elif name in ("glob.glob", "glob.iglob"):
            self.values[target.id] = given

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

    # -- calls -----------------------------------------------------------------------------------
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

    def _kind(self, name: str) -> str:
        for kind, names in self.kinds.items():
            if kind not in ("harmless", "acting") and name in names:
                return kind
        return "unknown" if name.split(".")[0] in ("ctypes", "cffi", "importlib", "runpy", "code") else ""

    def _judge(self, name: str, node: ast.Call) -> None:
        kind = self._kind(name)
        act = getattr(self, f"_{kind}", None) if kind else None
        if act is not None:
            act(name, node)
        elif re.match(r"(requests|httpx)(\.Session\(\)|\.Client\(\)|\.session\(\))?\.\w+$", name):
            self._http(name, node)
        elif name.rsplit(".", 1)[-1] in _PATH_METHODS and name.split(".")[0] not in _STDLIB:
            self.call.unknown(
                name, "a method that writes or deletes, of what cannot be told", code="dynamic-target"
            )
        elif name.startswith(("smtplib.", "ftplib.", "paramiko.", "telnetlib.", "imaplib.")):
            self._mailer(name, node)

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

    def _urlopen(self, name: str, node: ast.Call) -> None:
        if (
            node.args
            and isinstance(node.args[0], (ast.Call, ast.Name))
            and "Request" in self.dotted(node.args[0])
        ):
            if isinstance(node.args[0], ast.Name):
                return
            return
        data = self._keyword(node, "data") or (node.args[1] if len(node.args) > 1 else None)
        method = self._text(node, 5, "method") if self._keyword(node, "method") is not None else None
        posts = data is not None and not (isinstance(data, ast.Constant) and data.value is None)
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
                self.call.does(Effect.EXTERNAL, first, f"{name} talks to another machine", code="raw-socket")
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
                code="raw-socket",
            )


_Act = Callable[[str, ast.Call], None]
HANDLERS: dict[str, Handler] = dict.fromkeys(
    (
        "python",
        "python2",
        "python3",
        "pypy",
        "pypy3",
        "ipython",
        *(f"python3.{minor}" for minor in range(6, 16)),
    ),
    python,
)
