"""What stands between the words of bash text: blanks, comments, keywords, ends of lines and heredocs."""

import msgspec

from shim.bash.cursor import METACHARACTERS, Cursor
from shim.bash.nodes import Literal, Word
from shim.bash.words import expandable

_BLANK = (" ", "\t", "\\", "#")


class Source(Cursor):
    """A place in a script. `heredocs` are those whose text begins at the next line: the delimiter, whether
    tabs are taken off, and where the text goes."""

    heredocs: list[tuple[Word, bool, list[Word]]] = msgspec.field(default_factory=list)

    def keyword(self) -> str:
        """The unquoted run of characters at the cursor; nothing is consumed."""
        end = self.at
        text = self.text
        while end < len(text) and text[end] not in METACHARACTERS:
            end += 1
        return text[self.at : end]

    def spaces(self) -> None:
        """Blanks, continued lines and comments."""
        text = self.text
        if self.peek() not in _BLANK:
            return
        start = self.at
        while True:
            if self.peek() in (" ", "\t") and self.peek():
                self.at += 1
            elif self.peek(2) == "\\\n":
                self.at += 2
            elif self.peek() == "#" and (self.at == 0 or text[self.at - 1] in METACHARACTERS):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            else:
                self.effort.spend(self.at - start)
                return

    def blank_lines(self) -> None:
        while True:
            self.spaces()
            if self.peek() != "\n":
                return
            self.newline()

    def keyword_after_blank(self) -> str:
        self.blank_lines()
        return self.keyword()

    def newline(self) -> None:
        self.at += 1
        pending, self.heredocs = self.heredocs, []
        for delimiter, strip, slot in pending:
            slot.append(self._heredoc(delimiter, strip))

    def _heredoc(self, delimiter: Word, strip: bool) -> Word:
        quoted = any(not isinstance(part, Literal) or part.quoted for part in delimiter.parts)
        end = "".join(part.text for part in delimiter.parts if isinstance(part, Literal))
        lines: list[str] = []
        while self.peek():
            stop = self.text.find("\n", self.at)
            stop = len(self.text) if stop < 0 else stop
            line = self.text[self.at : stop]
            self.at = min(stop + 1, len(self.text))
            line = line.lstrip("\t") if strip else line
            if line == end:
                break
            lines.append(line + "\n")
        text = "".join(lines)
        self.effort.spend(len(lines))
        self.effort.copy(len(text))
        return Word((Literal(text, True),), text) if quoted else expandable(text, self)

    def separator(self) -> bool:
        """Whether commands end here; goes behind the sign that says so."""
        self.spaces()
        char = self.peek()
        if char in (";", "&") and char:
            self.at += 1
            return True
        if char == "\n":
            self.newline()
            return True
        return False
