"""What names and expressions of Python code stand for, as far as literals decide it."""

import ast
import sys

from shim.call import Call
from shim.grammar import table
from shim.text import HOLE, known

STDLIB = frozenset(sys.stdlib_module_names)
Value = str | list[str] | None


class Names(ast.NodeVisitor):
    """Walks code in order, keeping what names stand for."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}
        self.places: dict[str, Value] = {}
        self.kinds = table("python")

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
        elif top not in STDLIB and top not in self.kinds["harmless"]:
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

    def visit(self, node: ast.AST) -> None:
        self.call.judge.effort.spend(1)
        super().visit(node)

    def value(self, node: ast.expr | None) -> Value:
        """A text or a list of texts, as far as literals decide it and it stays of a size that is of use."""
        effort = self.call.judge.effort
        value = self._value(node)
        if isinstance(value, list):
            effort.spend(len(value))
            effort.copy(sum(map(len, value)))
        elif value is not None:
            effort.copy(len(value))
        return HOLE if isinstance(value, str) and len(value) > effort.largest else value

    def _value(self, node: ast.expr | None) -> Value:
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
                self.call.judge.effort.copy(len(base) * len(first))
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
