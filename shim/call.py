"""One call of a program, as handlers see it, and the way to say what it does."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sekisho.core.action import Action, Answers, Credential, Effect, Reach
from shim.bash.effort import Unreadable
from shim.bash.state import State
from shim.bash.streams import Streams
from shim.bash.walk import Walker
from shim.context import Context, Kind
from shim.paths import deleted, expanded, is_product, note_written, written
from shim.text import HOLE, known, shown, shown_each

if TYPE_CHECKING:
    from shim.judge import Judge

_READ = Answers(reversible=True, reach=Reach.SANDBOX, checkable=True)
_LOCAL = Answers(reversible=True, reach=Reach.SANDBOX, checkable=True)
_DESTRUCTIVE = Answers(reversible=False, reach=Reach.SANDBOX)
_EXTERNAL = Answers(reversible=False, reach=Reach.OUTSIDE, credential=Credential.WRITE)
_UNKNOWN = Answers(reversible=False, reach=Reach.OUTSIDE)
_MOST_WORDS = 50
_MADE_A_STEP = 8  # paths made before, which are gone through for each that is written
ANSWERS = {
    Effect.READ: _READ,
    Effect.LOCAL: _LOCAL,
    Effect.DESTRUCTIVE: _DESTRUCTIVE,
    Effect.EXTERNAL: _EXTERNAL,
    Effect.UNKNOWN: _UNKNOWN,
    Effect.FORBIDDEN: _UNKNOWN,
}


class Call(msgspec.Struct):
    """`argv[0]` is the tool's plain name. `stdin` None: nothing is known to be connected.

    Rules speak of the words as they were `written`, and of those that are left (`plain`) without options
    that hide the verb, where a handler has taken them apart.
    """

    argv: list[str]
    state: State
    stdin: str | None
    walker: Walker
    judge: "Judge"
    written: Sequence[str] = ()
    plain: Sequence[str] = ()
    said: tuple[tuple[tuple[str, ...], tuple[str, ...]], dict[str, list[str]]] | None = None

    @property
    def name(self) -> str:
        return self.argv[0]

    @property
    def arguments(self) -> list[str]:
        return self.argv[1:]

    @property
    def context(self) -> Context:
        return self.judge.context

    def variable(self, name: str) -> str | None:
        """A variable as the program would see it; None if it is not known to be set."""
        value = self.state.text(name)
        return self.context.environment.get(name) if value is None else value

    # -- saying what happens ---------------------------------------------------------------------
    def does(
        self, effect: Effect, target: str, reason: str, *, code: str = "", verb: str = "", **detail: Any
    ) -> None:
        """One effect of the call."""
        self.judge.note(
            Action(
                verb=verb or self.name,
                target=shown(target),
                effect=effect,
                reason=reason,
                code=code or f"{effect.value}-command",
                answers=ANSWERS[effect],
                detail={**self._words(), **detail},
            )
        )

    def _words(self) -> dict[str, list[str]]:
        """What rules about commands are asked with, see core.detail.spoken_of."""
        written = tuple((self.written or self.argv)[:_MOST_WORDS])
        plain = tuple(self.plain[:_MOST_WORDS])
        # Once for all effects of a call: a word may be as long as the code that has thousands of them.
        if self.said is None or self.said[0] != (written, plain):
            words = {"argv": shown_each(written)}
            if plain and plain != written:
                words["plain"] = shown_each(plain)
            self.said = (written, plain), words
        return self.said[1]

    def unknown(self, target: str, reason: str, *, code: str = "effect-unknown") -> None:
        self.does(Effect.UNKNOWN, target, reason, code=code)

    def deletes(self, paths: Iterable[str], *, recursive: bool = True) -> None:
        """The call deletes `paths`."""
        for path in paths:
            effect, reason = deleted(path, self.state, self.context, recursive=recursive)
            code = "deletes-files" if effect is Effect.DESTRUCTIVE else ""
            self.does(effect, path, reason, code=code, verb="file.delete")

    def writes(self, path: str, *, append: bool = False, product: bool = False) -> None:
        """The call writes `path`, over what is there unless `append`.

        A `product` can be made again, where its name says that it is one.
        """
        for one in expanded(path, self.state, self.context) or (path,):
            effect, reason = written(one, self.state, self.context, append=append)
            if effect is Effect.DESTRUCTIVE and product and is_product(one):
                effect, reason = Effect.LOCAL, "can be made again"
            code = "overwrites-file" if effect is Effect.DESTRUCTIVE else ""
            self.does(effect, one, reason, code=code, verb="file.write")
            note_written(one, self.state, self.context)
            self._looked(one)

    def overwrites(self, path: str, *, product: bool = False) -> None:
        """As `writes`, for a word that names a file by custom only: it may be a format or an address."""
        effect, reason = written(path, self.state, self.context)
        if effect is Effect.DESTRUCTIVE and not path.startswith("-") and not (product and is_product(path)):
            self.does(effect, path, reason, code="overwrites-file", verb="file.write")
        self._looked(path)

    def _looked(self, path: str) -> None:
        self.judge.effort.copy(len(self.state.cwd) + len(path), 1 + len(self.state.made) // _MADE_A_STEP)

    def clears(self, path: str) -> None:
        """The call empties the folder `path`, where there is one."""
        self._looked(path)
        if self.context.files.kind(self.state.resolve(path)) is not Kind.ABSENT:
            self.deletes([path])

    # -- running something else ------------------------------------------------------------------
    def runs(
        self, argv: Sequence[str], *, stdin: str | None = None, state: State | None = None
    ) -> str | None:
        """The call runs a program with these arguments; tells what that prints."""
        if not argv:
            return None
        return self.judge.nested(self.walker, list(argv), state or self.state, stdin)

    def shell(
        self,
        text: str,
        *,
        stdin: str | None = None,
        positional: tuple[str, ...] | None = (),
        name: str = "sh",
    ) -> str:
        """The call hands `text` to a shell; tells what that prints."""
        if not known(text):
            self.unknown(name, "a shell runs text that cannot be told", code="dynamic-command")
            if len(text.replace(HOLE, "").strip()) == 0:
                return HOLE
        inner = msgspec.structs.replace(
            self.state.copy(), functions={}, aliases={}, positional=positional, name=name
        )
        out: list[str] = []
        try:
            for sub in self.walker.text(text, [inner], Streams(stdin, out)):
                self.state.absorb(sub)
        except Unreadable as error:
            self.unknown(name, f"the shell text cannot be read: {error}", code="unreadable-shell")
        return "".join(out)


Handler = Callable[[Call], str | None]
