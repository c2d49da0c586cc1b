"""Words -> arguments, as far as the text decides them; the rest becomes holes."""

from collections.abc import Callable

from shim.bash.effort import Effort
from shim.bash.fields import Fields
from shim.bash.nodes import Arithmetic, Literal, Parameter, Part, Script, Substitution, Word
from shim.bash.parser import operand
from shim.bash.patterns import change_case, split_braces, substitute, substring, trim
from shim.bash.state import State, Value
from shim.text import HOLE, WILD, known

# (script, state, kind) -> what it prints, or for <( ) the path that stands for it
Runner = Callable[[Script, State, str], str]
_MAX_FIELDS = 2000
_A_PARAMETER, _AN_OPERATOR = 3, 5  # steps


class Expander:
    """Expands words in a state. `run` walks a substitution and tells what it prints.

    A value that grows beyond what `effort` has as its largest is not known, nor are the words beyond the
    first thousands.
    """

    def __init__(self, state: State, run: Runner, home: str, effort: Effort) -> None:
        self.state = state
        self.run = run
        self.home = home
        self.effort = effort

    def fields(self, words: tuple[Word, ...]) -> list[str]:
        out: list[str] = []
        for word in words:
            out.extend(self.field_list(word))
            if len(out) > _MAX_FIELDS:
                return [*out[:_MAX_FIELDS], WILD]
        return out

    def field_list(self, word: Word) -> list[str]:
        """The arguments one word turns into."""
        out: list[str] = []
        words, more = split_braces(_atoms(word), self.effort)
        for atoms in words:
            out.extend(self._split(_parts(atoms)))
        return [*out, WILD] if more else out

    def one(self, word: Word) -> str:
        """The word as a single text, as in an assignment or a redirect."""
        pieces: list[str] = []
        for position, part in enumerate(word.parts):
            value = self.value(part)
            if isinstance(value, tuple):
                value = " ".join(value)
            if not position and value == "~" and isinstance(part, Literal) and not part.quoted:
                value = self.home
            pieces.append(value)
        return self.bounded("".join(pieces).replace(WILD, HOLE))

    def bounded(self, text: str) -> str:
        """The text, paid for; a hole for one that is too large."""
        self.effort.copy(len(text))
        return text if len(text) <= self.effort.largest else HOLE

    def _split(self, parts: list[Part]) -> list[str]:
        fields = Fields(self.state.text("IFS"), self.effort)
        for position, part in enumerate(parts):
            value = self.value(part)
            quoted = getattr(part, "quoted", True)
            if not position and value == "~" and not quoted and _tilde_ends(parts):
                value = self.home
            if isinstance(value, tuple):
                fields.several(value if quoted else fields.pieces(" ".join(value)))
            elif quoted or isinstance(part, Literal):
                fields.add(value)
            else:
                fields.split(value)
        fields.end()
        return fields.out

    # -- single parts --------------------------------------------------------------------------
    def value(self, part: Part) -> Value:
        if isinstance(part, Literal):
            self.effort.copy(len(part.text))
            return part.text
        value = self._expanded(part)
        if isinstance(value, str):
            return self.bounded(value)
        self.effort.spend(len(value))
        self.effort.copy(sum(map(len, value)))
        return value

    def _expanded(self, part: Arithmetic | Substitution | Parameter) -> Value:
        if isinstance(part, Arithmetic):
            self.one(part.word)
            return part.word.src.strip() if part.word.src.strip().isdigit() else HOLE
        if isinstance(part, Substitution):
            return self.run(part.script, self.state, part.kind)
        return self.parameter(part)

    def parameter(self, part: Parameter) -> Value:
        self.effort.spend(_A_PARAMETER + (_AN_OPERATOR if part.operator or part.index else 0))
        if part.length:
            return HOLE
        base = self.base(part)
        if part.operator in ("", "[") and not part.operand:
            return base
        if isinstance(base, tuple) and part.operator == ":":
            return _slice(base, self.one(self.operand(part.operand, part.quoted)))
        if isinstance(base, tuple):
            return tuple(self.bounded(self.operate(part, item)) for item in base)
        return self.operate(part, base)

    def base(self, part: Parameter) -> Value:
        """The parameter's own value, before its operator."""
        if part.index is not None:
            return self.element(part)
        value = self.named(part.name, part.quoted)
        if part.indirect:
            return self.named(value, part.quoted) if isinstance(value, str) and known(value) else HOLE
        if isinstance(value, tuple) and part.name not in ("@", "*"):
            return value[0] if value else ""
        return value if value is not None else HOLE

    def element(self, part: Parameter) -> Value:
        value = self.state.variables.get(part.name)
        index = self.one(part.index) if part.index else ""
        if value is None or part.indirect:
            return HOLE
        items = value if isinstance(value, tuple) else (value,)
        if index in ("@", "*"):
            return items if index == "@" or not part.quoted else " ".join(items)
        if index.lstrip("-").isdigit():
            return items[int(index)] if -len(items) <= int(index) < len(items) else ""
        return HOLE

    def named(self, name: str, quoted: bool) -> Value:
        positional = self.state.positional
        if name in ("@", "*"):
            if positional is None:
                return WILD if not quoted or name == "@" else HOLE
            return " ".join(positional) if name == "*" and quoted else positional
        if name == "0":
            return self.state.name
        if name.isdigit():
            if positional is None:
                return HOLE
            return positional[int(name) - 1] if int(name) <= len(positional) else ""
        value = self.state.variables.get(name)
        return HOLE if value is None else value

    def operand(self, text: str, quoted: bool) -> Word:
        return operand(text, quoted, self.effort)

    def operate(self, part: Parameter, value: str) -> str:
        operator, text = part.operator, part.operand
        if operator in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
            return self.defaulted(part, operator, value)
        if not known(value):
            self.one(self.operand(text, part.quoted))  # what runs inside runs all the same
            return HOLE
        if operator in ("#", "##", "%", "%%"):
            pattern = self.one(self.operand(text, part.quoted))
            return trim(value, operator, pattern, self.effort) if known(pattern) else HOLE
        if operator in ("/", "//", "/#", "/%"):
            pattern, _, replacement = text.partition("/")
            pattern, replacement = (self.one(self.operand(piece, False)) for piece in (pattern, replacement))
            return substitute(value, operator, pattern, replacement, self.effort) if known(pattern) else HOLE
        if operator in ("^", "^^", ",", ",,"):
            return change_case(value, operator) if not text else HOLE
        if operator == ":":
            return substring(value, self.one(self.operand(text, part.quoted)))
        return HOLE

    def defaulted(self, part: Parameter, operator: str, value: str) -> str:
        other = self.one(self.operand(part.operand, part.quoted))
        if "+" in operator:
            return HOLE if not known(value) else (other if value else "")
        if not known(value) or value:
            return value
        if operator in (":=", "="):
            self.state.variables[part.name] = other
        return other if operator[0] == ":" else value


def _slice(items: tuple[str, ...], text: str) -> Value:
    """`${array[@]:offset:length}`, with literal numbers."""
    numbers = [number.strip() for number in text.split(":")]
    if not all(number.isdigit() for number in numbers) or len(numbers) > 2:
        return HOLE
    start = int(numbers[0])
    return items[start:] if len(numbers) == 1 else items[start : start + int(numbers[1])]


def _tilde_ends(parts: list[Part]) -> bool:
    if len(parts) == 1:
        return True
    following = parts[1]
    return isinstance(following, Literal) and not following.quoted and following.text.startswith("/")


def _atoms(word: Word) -> list[object]:
    return [
        part.text if isinstance(part, Literal) and not part.quoted else part
        for part in word.parts
        if not (isinstance(part, Literal) and not part.text and not part.quoted)
    ]


def _parts(atoms: list[object]) -> list[Part]:
    return [Literal(atom, False) if isinstance(atom, str) else atom for atom in atoms]  # type: ignore[misc]
