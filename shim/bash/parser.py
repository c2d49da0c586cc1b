"""bash text -> nodes. What is not understood raises `Unreadable`, and its effect is unknown.

Grammar: the bash reference manual, section "Shell Commands".
"""

import re
from collections.abc import Callable

from shim.bash.effort import Effort
from shim.bash.nodes import (
    AndOr,
    Assignment,
    Branches,
    Case,
    Command,
    Function,
    Group,
    Literal,
    Loop,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Test,
    Word,
)
from shim.bash.words import (
    METACHARACTERS,
    Cursor,
    Unreadable,
    balanced,
    doubly_bracketed,
    expandable,
    read_word,
    whole_word,
)

MAX_TEXT = 200_000
MAX_DEPTH = 40
_A_COMMAND = 15  # steps
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_INDEXED = re.compile(r"([A-Za-z_]\w*)\[")
_EQUALS = re.compile(r"()(\+?=)")
_BLANK = (" ", "\t", "\\", "#")
_CLOSERS = {"then", "else", "elif", "fi", "do", "done", "esac", "}", "in"}
_FUNCTION = re.compile(r"([^\s;&|<>()$`'\"\\={}]+)[ \t]*\([ \t]*\)")


def parse(text: str, depth: int = 0, effort: Effort | None = None) -> Script:
    """The script in `text`; `effort` is what reading it may cost, the text's own without one."""
    effort = Effort(len(text)) if effort is None else effort
    effort.copy(len(text))
    if len(text) > MAX_TEXT or depth > MAX_DEPTH:
        raise Unreadable("too long or too deep to be read")
    parser = _Parser(text, depth, effort)
    script = parser.script(frozenset())
    if parser.cursor.peek():
        raise Unreadable(f"unexpected {parser.cursor.peek()!r}")
    return script


def _read(text: str, start: int, depth: int, effort: Effort) -> tuple[Script, int]:
    """A nested script: the whole text, or from `start` to the closing bracket."""
    if start < 0:
        return parse(text, depth, effort), len(text)
    if depth > MAX_DEPTH:
        raise Unreadable("too deep to be read")
    parser = _Parser(text, depth, effort)
    parser.cursor.at = start
    script = parser.script(frozenset())
    if parser.cursor.peek() != ")":
        raise Unreadable("a substitution that does not end")
    return script, parser.cursor.at


class _Parser:
    def __init__(self, text: str, depth: int, effort: Effort) -> None:
        self.depth = depth
        self.cursor = Cursor(text, lambda inner, start: _read(inner, start, depth + 1, effort), effort)
        self.heredocs: list[tuple[Word, bool, list[Word]]] = []

    # -- lists ---------------------------------------------------------------------------------
    def script(self, closers: frozenset[str]) -> Script:
        items: list[AndOr] = []
        while True:
            self.blank_lines()
            if self.at_end(closers):
                return Script(tuple(items))
            items.append(self.and_or(closers))
            self.spaces()
            if self.cursor.peek(2) in (";;", ";&") or not self.separator():
                if self.at_end(closers):
                    return Script(tuple(items))
                raise Unreadable(f"unexpected {self.cursor.peek(10)!r}")

    def at_end(self, closers: frozenset[str]) -> bool:
        self.spaces()
        char = self.cursor.peek()
        if not char or char == ")" or self.cursor.peek(2) in (";;", ";&"):
            return True
        return self.keyword() in closers

    def separator(self) -> bool:
        self.spaces()
        char = self.cursor.peek()
        if char in (";", "&") and char:
            self.cursor.at += 1
            return True
        if char == "\n":
            self.newline()
            return True
        return False

    def and_or(self, closers: frozenset[str]) -> AndOr:
        first = self.pipeline(closers)
        rest: list[tuple[str, Pipeline]] = []
        while True:
            self.spaces()
            operator = self.cursor.peek(2)
            if operator not in ("&&", "||"):
                return AndOr(first, tuple(rest))
            self.cursor.at += 2
            self.blank_lines()
            rest.append((operator, self.pipeline(closers)))

    def pipeline(self, closers: frozenset[str]) -> Pipeline:
        commands: list[Command] = []
        while True:
            self.prefixes()
            commands.append(self.command(closers))
            self.spaces()
            if self.cursor.peek() != "|" or self.cursor.peek(2) == "||":
                return Pipeline(tuple(commands))
            self.cursor.at += 2 if self.cursor.peek(2) == "|&" else 1
            self.blank_lines()

    def prefixes(self) -> None:
        """`!` and `time` before a pipeline change nothing about its effect."""
        while True:
            self.spaces()
            word = self.keyword()
            if word not in ("!", "time"):
                return
            self.cursor.at += len(word)
            self.spaces()
            if word == "time" and self.keyword() == "-p":
                self.cursor.at += 2

    # -- commands ------------------------------------------------------------------------------
    def command(self, closers: frozenset[str]) -> Command:
        self.cursor.effort.spend(_A_COMMAND)
        self.spaces()
        keyword = self.keyword()
        compounds: dict[str, Callable[[], Command]] = {
            "if": self.if_command,
            "for": self.for_command,
            "select": self.for_command,
            "while": self.while_command,
            "until": self.while_command,
            "case": self.case_command,
            "[[": self.test_command,
            "{": self.brace_group,
            "function": self.function_command,
            "coproc": self.coproc_command,
        }
        if keyword in compounds:
            return compounds[keyword]()
        if self.cursor.peek(2) == "((" and (arithmetic := self.arithmetic_command()):
            return arithmetic
        if self.cursor.peek() == "(":
            return self.subshell()
        if keyword in _CLOSERS:
            raise Unreadable(f"unexpected {keyword}")
        named = _FUNCTION.match(self.cursor.text, self.cursor.at)
        if named:
            self.cursor.at = named.end()
            return self.function_body(named[1])
        return self.simple()

    def simple(self) -> Simple:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        while True:
            self.spaces()
            if self.redirect(redirects):
                continue
            char = self.cursor.peek()
            if not char or (char in METACHARACTERS and self.cursor.peek(2) not in ("<(", ">(")):
                break
            if (not words or words[0].plain in _DECLARE) and self.assignment(assignments, words):
                continue
            words.append(read_word(self.cursor))
        if not (words or assignments or redirects):
            raise Unreadable(f"no command before {self.cursor.peek()!r}")
        return Simple(tuple(words), tuple(assignments), tuple(redirects))

    def assignment(self, assignments: list[Assignment], words: list[Word]) -> bool:
        """An assignment at the cursor; after `declare` and its like it also stays a word."""
        text, start = self.cursor.text, self.cursor.at
        index = None
        match = _ASSIGN.match(text, start)
        if match is None and (indexed := _INDEXED.match(text, start)):
            self.cursor.at = indexed.end()
            index = whole_word(balanced(self.cursor, "[", "]"), self.cursor)
            match = _EQUALS.match(text, self.cursor.at)
            name = indexed[1]
        elif match:
            name = match[1]
        if match is None:
            self.cursor.at = start
            return False
        self.cursor.at = match.end()
        value = self.array() if self.cursor.peek() == "(" else read_word(self.cursor)
        assignments.append(Assignment(name, value, match[2] == "+=", index))
        return True

    def array(self) -> tuple[Word, ...]:
        self.cursor.at += 1
        words: list[Word] = []
        while True:
            self.blank_lines()
            if self.cursor.peek() == ")":
                self.cursor.at += 1
                return tuple(words)
            words.append(read_word(self.cursor))
            if not words[-1].parts:
                raise Unreadable("an array that does not end")

    def redirect(self, redirects: list[Redirect]) -> bool:
        match = _REDIRECT.match(self.cursor.text, self.cursor.at)
        if match is None:
            return False
        self.cursor.at = match.end()
        self.spaces()
        operator, target = match[2], read_word(self.cursor)
        if not target.parts:
            raise Unreadable("a redirect without a target")
        if operator in ("<<", "<<-"):
            redirects.append(Redirect(operator, target, match[1] or ""))
            self.heredocs.append((target, operator == "<<-", redirects[-1].texts))
        elif operator == "<<<":
            redirects.append(Redirect(operator, None, match[1] or "", [target]))
        else:
            redirects.append(Redirect(operator, target, match[1] or ""))
        return True

    # -- compound commands ---------------------------------------------------------------------
    def expect(self, *words: str) -> str:
        self.blank_lines()
        keyword = self.keyword()
        if keyword not in words:
            raise Unreadable(f"expected {words[0]}")
        self.cursor.at += len(keyword)
        return keyword

    def body(self, *closers: str) -> Script:
        return self.script(frozenset(closers))

    def trailing(self) -> tuple[Redirect, ...]:
        redirects: list[Redirect] = []
        self.spaces()
        while self.redirect(redirects):
            self.spaces()
        return tuple(redirects)

    def if_command(self) -> Branches:
        self.cursor.at += 2
        arms: list[tuple[Script | None, Script]] = []
        ended = "elif"
        while ended == "elif":
            condition = self.body("then")
            self.expect("then")
            arms.append((condition, self.body("elif", "else", "fi")))
            ended = self.expect("elif", "else", "fi")
        if ended == "else":
            arms.append((None, self.body("fi")))
            self.expect("fi")
        return Branches(tuple(arms), self.trailing())

    def do_group(self) -> Script:
        if self.keyword_after_blank() == "{":
            self.cursor.at += 1
            body = self.body("}")
            self.expect("}")
            return body
        self.expect("do")
        body = self.body("done")
        self.expect("done")
        return body

    def keyword_after_blank(self) -> str:
        self.blank_lines()
        return self.keyword()

    def for_command(self) -> Loop:
        self.cursor.at += len(self.keyword())
        self.spaces()
        if self.cursor.peek(2) == "((":
            inner = doubly_bracketed(self.cursor)
            self.separator()
            return Loop(self.do_group(), arithmetic=inner, redirects=self.trailing())
        variable = read_word(self.cursor).src
        words: tuple[Word, ...] | None = None
        if self.keyword_after_blank() == "in":
            self.cursor.at += 2
            words = self.words_to_separator()
        self.separator()
        return Loop(self.do_group(), variable, words, redirects=self.trailing())

    def words_to_separator(self) -> tuple[Word, ...]:
        words: list[Word] = []
        while True:
            self.spaces()
            if self.cursor.peek() in ("", ";", "\n", "&"):
                return tuple(words)
            words.append(read_word(self.cursor))
            if not words[-1].parts:
                raise Unreadable(f"unexpected {self.cursor.peek()!r}")

    def while_command(self) -> Loop:
        self.cursor.at += 5
        condition = self.body("do")
        return Loop(self.do_group(), condition=condition, redirects=self.trailing())

    def case_command(self) -> Case:
        self.cursor.at += 4
        self.spaces()
        subject = read_word(self.cursor)
        self.expect("in")
        arms: list[tuple[tuple[Word, ...], Script]] = []
        while self.keyword_after_blank() != "esac":
            patterns = self.patterns()
            arms.append((patterns, self.body("esac")))
            while self.cursor.peek() in (";", "&") and self.cursor.peek():
                self.cursor.at += 1
        self.cursor.at += 4
        return Case(subject, tuple(arms), self.trailing())

    def patterns(self) -> tuple[Word, ...]:
        if self.cursor.peek() == "(":
            self.cursor.at += 1
        words: list[Word] = []
        while True:
            self.spaces()
            words.append(read_word(self.cursor))
            self.spaces()
            ended = self.cursor.take()
            if ended == ")":
                return tuple(words)
            if ended != "|":
                raise Unreadable("a case pattern that does not end")

    def test_command(self) -> Test:
        self.cursor.at += 2
        words: list[Word] = []
        while True:
            self.blank_lines()
            if self.keyword() == "]]":
                self.cursor.at += 2
                return Test(tuple(words), self.trailing())
            if self.cursor.peek() in ("(", ")", "<", ">", "|", "&") and self.cursor.peek():
                self.cursor.at += 1
                continue
            words.append(read_word(self.cursor, " \t\n;&|<>)"))
            if not words[-1].parts:
                raise Unreadable("a test that does not end")

    def arithmetic_command(self) -> Test | None:
        inner = doubly_bracketed(self.cursor)
        return None if inner is None else Test((inner,), self.trailing())

    def subshell(self) -> Group:
        self.cursor.at += 1
        body = self.script(frozenset())
        if self.cursor.peek() != ")":
            raise Unreadable("a subshell that does not end")
        self.cursor.at += 1
        return Group(body, True, self.trailing())

    def brace_group(self) -> Group:
        self.cursor.at += 1
        body = self.body("}")
        self.expect("}")
        return Group(body, False, self.trailing())

    def function_command(self) -> Function:
        self.cursor.at += 8
        self.spaces()
        name = read_word(self.cursor).src
        self.spaces()
        if self.cursor.peek() == "(":
            balanced_end = self.cursor.text.find(")", self.cursor.at)
            self.cursor.at = balanced_end + 1
        return self.function_body(name)

    def function_body(self, name: str) -> Function:
        self.blank_lines()
        return Function(name, self.command(frozenset()))

    def coproc_command(self) -> Command:
        """`coproc [NAME] command`: NAME only before a compound command."""
        self.cursor.at += 6
        self.spaces()
        start = self.cursor.at
        read_word(self.cursor)
        self.spaces()
        if self.keyword() not in ("{", "if", "for", "while", "until", "case") and self.cursor.peek() != "(":
            self.cursor.at = start
        return self.command(frozenset())

    # -- characters ----------------------------------------------------------------------------
    def keyword(self) -> str:
        """The unquoted run of characters at the cursor; nothing is consumed."""
        end = self.cursor.at
        text = self.cursor.text
        while end < len(text) and text[end] not in METACHARACTERS:
            end += 1
        return text[self.cursor.at : end]

    def spaces(self) -> None:
        """Blanks, continued lines and comments."""
        text = self.cursor.text
        if self.cursor.peek() not in _BLANK:
            return
        start = self.cursor.at
        while True:
            if self.cursor.peek() in (" ", "\t") and self.cursor.peek():
                self.cursor.at += 1
            elif self.cursor.peek(2) == "\\\n":
                self.cursor.at += 2
            elif self.cursor.peek() == "#" and (
                self.cursor.at == 0 or text[self.cursor.at - 1] in METACHARACTERS
            ):
                end = text.find("\n", self.cursor.at)
                self.cursor.at = len(text) if end < 0 else end
            else:
                self.cursor.effort.spend(self.cursor.at - start)
                return

    def blank_lines(self) -> None:
        while True:
            self.spaces()
            if self.cursor.peek() != "\n":
                return
            self.newline()

    def newline(self) -> None:
        self.cursor.at += 1
        pending, self.heredocs = self.heredocs, []
        for delimiter, strip, slot in pending:
            slot.append(self.heredoc(delimiter, strip))

    def heredoc(self, delimiter: Word, strip: bool) -> Word:
        quoted = any(not isinstance(part, Literal) or part.quoted for part in delimiter.parts)
        end = "".join(part.text for part in delimiter.parts if isinstance(part, Literal))
        lines: list[str] = []
        while self.cursor.peek():
            stop = self.cursor.text.find("\n", self.cursor.at)
            stop = len(self.cursor.text) if stop < 0 else stop
            line = self.cursor.text[self.cursor.at : stop]
            self.cursor.at = min(stop + 1, len(self.cursor.text))
            line = line.lstrip("\t") if strip else line
            if line == end:
                break
            lines.append(line + "\n")
        text = "".join(lines)
        self.cursor.effort.spend(len(lines))
        self.cursor.effort.copy(len(text))
        return Word((Literal(text, True),), text) if quoted else expandable(text, self.cursor)


_DECLARE = {"export", "declare", "typeset", "local", "readonly"}


def operand(text: str, quoted: bool, effort: Effort) -> Word:
    """What follows the operator of a `${…}`, as a word."""
    cursor = _Parser(text, 0, effort).cursor
    return expandable(text, cursor) if quoted else whole_word(text, cursor)
