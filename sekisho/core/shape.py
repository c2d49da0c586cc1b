"""Builds a section from a TOML table and notes every problem instead of stopping at the first.

The types of the structs in `policy` are the only description of the format: what is read here, what
`schema` publishes and what the code uses cannot differ.
"""

import functools
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

import msgspec

from sekisho.core.layout import KeyPath
from sekisho.core.policy import INTERNAL, PERSON_ONLY, Policy, Rule, Section
from sekisho.core.problem import Problem, meant, nearest
from sekisho.core.written import READERS

_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotes"}
_NAMES |= {list: "a list", dict: "a table"}


class _Bad(Exception):
    """The value cannot be built; its problem is noted already."""


@functools.lru_cache(maxsize=64)
def fields(section: type[Section]) -> dict[str, msgspec.structs.FieldInfo]:
    """The keys a person may write in a section."""
    return {field.name: field for field in msgspec.structs.fields(section) if field.name not in INTERNAL}


def _kind(value: Any) -> str:
    return _NAMES.get(type(value), "a date or time")


def dotted(path: KeyPath) -> str:
    """`network.rule.host`: a key as a person names it, without the indexes."""
    return ".".join(str(part) for part in path if isinstance(part, str))


class Reader:
    """Reads one tree. `lines` tells where a key stands; `problems` and `given` fill up on the way."""

    def __init__(self, source: str, lines: Mapping[KeyPath, int], *, person: bool) -> None:
        self.source = source
        self.lines = lines
        self.person = person
        self.problems: list[Problem] = []
        self.given: dict[str, str] = {}

    def line(self, path: KeyPath) -> int:
        """The line of a key, else of the nearest table around it."""
        return next(
            (self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines), 0
        )

    def note(self, path: KeyPath, message: str, hint: str = "") -> None:
        """Records a problem at a key."""
        name = dotted(path)
        text = f"{name}: {message}" if name else message
        self.problems.append(Problem(file=self.source, line=self.line(path), message=text, hint=hint))

    def fail(self, path: KeyPath, message: str, hint: str = "") -> NoReturn:
        self.note(path, message, hint)
        raise _Bad

    def policy(self, tree: Mapping[str, Any]) -> Policy:
        """The policy of a whole text. Parts with problems have their defaults."""
        policy = self.section(Policy, tree, ())
        return msgspec.structs.replace(policy, given=self.given)

    def section[S: Section](self, kind: type[S], tree: Mapping[str, Any], path: KeyPath) -> S:
        """A table. A rule with any problem raises `_Bad`, another section leaves the key out."""
        values: dict[str, Any] = {}
        before = len(self.problems)
        known = fields(kind)
        for key, raw in tree.items():
            if key not in known:
                self.unknown((*path, key), known)
            elif not path and key in PERSON_ONLY and not self.person:
                self.note(
                    (key,), f"[{key}] belongs in a person's own config.toml", "a project cannot open it"
                )
            else:
                self.member(known[key], raw, (*path, key), values)
        missing = [name for name, field in known.items() if field.required and name not in tree]
        for name in missing:
            self.note(path, f"{name!r} is missing")
        if issubclass(kind, Rule):
            if len(self.problems) > before:
                raise _Bad
            values["source"] = f"{self.source}:{self.line(path)}"
        return kind(**values)

    def member(
        self, field: msgspec.structs.FieldInfo, raw: Any, path: KeyPath, values: dict[str, Any]
    ) -> None:
        try:
            values[field.name] = self.value(field.type, raw, path)
        except _Bad:
            return
        if not any(isinstance(part, int) for part in path) and not isinstance(values[field.name], Section):
            self.given[dotted(path)] = f"{self.source}:{self.line(path)}"

    def unknown(self, path: KeyPath, known: Mapping[str, Any]) -> None:
        key = str(path[-1])
        elsewhere = sorted(name for name in all_keys() if name.rpartition(".")[2] == key)
        hint = f"it belongs to {elsewhere[0]}" if len(elsewhere) == 1 else nearest(key, list(known))
        self.note(path, "there is no such key", hint)

    def value(self, kind: Any, raw: Any, path: KeyPath) -> Any:
        """A value of any type that occurs in the policy's structs."""
        origin = get_origin(kind)
        if origin is Annotated:
            return self.annotated(kind, raw, path)
        if origin in (Union, types.UnionType):
            inner = next(part for part in get_args(kind) if part is not types.NoneType)
            return self.value(inner, raw, path)
        if origin is Literal:
            return self.choice(get_args(kind), raw, path)
        if origin is tuple:
            return self.items(get_args(kind)[0], raw, path)
        if origin is dict:
            key_kind, item_kind = get_args(kind)
            return self.table(key_kind, item_kind, raw, path)
        if isinstance(kind, type) and issubclass(kind, Section):
            return self.section(kind, self.expect(dict, raw, path), path)
        return self.expect(kind, raw, path)

    def expect(self, kind: type, raw: Any, path: KeyPath) -> Any:
        fits = type(raw) is kind or (kind is float and type(raw) is int)
        return raw if fits else self.fail(path, f"expected {_NAMES[kind]}, got {_kind(raw)}")

    def annotated(self, kind: Any, raw: Any, path: KeyPath) -> Any:
        base, meta = get_args(kind)
        written = (meta.extra or {}).get("written")
        if written is None:
            return self.bounded(self.value(base, raw, path), meta, path)
        try:
            return READERS[written](self.expect(str, raw, path))
        except ValueError as error:
            self.fail(path, str(error))

    def bounded(self, value: Any, meta: msgspec.Meta, path: KeyPath) -> Any:
        if meta.min_length is not None and len(value) < meta.min_length:
            self.fail(path, "the list is empty")
        low, high, above = meta.ge, meta.le, meta.gt
        if low is not None and not value >= low:
            self.fail(path, f"{value} is less than {low}")
        if high is not None and not value <= high:
            self.fail(path, f"{value} is more than {high}")
        if above is not None and not above < value < float("inf"):
            self.fail(path, f"{value} is not more than {above}")
        return value

    def choice(self, choices: tuple[Any, ...], raw: Any, path: KeyPath) -> Any:
        for choice in choices:
            if raw == choice and isinstance(choice, type(raw)):
                return choice
        names = [str(choice) for choice in choices]
        shown = repr(raw) if isinstance(raw, (str, int, float)) else _kind(raw)
        return self.fail(path, f"{shown} is not one of {', '.join(names)}", meant(str(raw), names))

    def items(self, kind: Any, raw: Any, path: KeyPath) -> tuple[Any, ...]:
        built, bad = [], False
        for index, item in enumerate(self.expect(list, raw, path)):
            try:
                built.append(self.value(kind, item, (*path, index)))
            except _Bad:
                bad = True
        if bad and not (isinstance(kind, type) and issubclass(kind, Rule)):
            raise _Bad
        return tuple(built)

    def table(self, key_kind: Any, kind: Any, raw: Any, path: KeyPath) -> dict[str, Any]:
        built, bad = {}, False
        for name, item in self.expect(dict, raw, path).items():
            try:
                built[self.value(key_kind, name, (*path, name))] = self.value(kind, item, (*path, name))
            except _Bad:
                bad = True
        if bad:
            raise _Bad
        return built


@functools.lru_cache(maxsize=1)
def all_keys() -> dict[str, bool]:
    """Every dotted key, and whether it stands below a list of rules."""
    found: dict[str, bool] = {}

    def collect(kind: type[Section], prefix: str, below: bool) -> None:
        for name, field in fields(kind).items():
            found[prefix + name] = below
            for part in (field.type, *get_args(field.type)):
                if isinstance(part, type) and issubclass(part, Section):
                    collect(part, f"{prefix}{name}.", below or issubclass(part, Rule))

    collect(Policy, "", False)
    return found
