"""How git commands say what they do, and the kinds that need no look at their options."""

from collections.abc import Callable

from sekisho.core.action import Effect
from shim.call import Call
from shim.options import parse, spec
from shim.text import HOLE

Verb = Callable[[Call, list[str]], None]


def says(call: Call, effect: Effect, reason: str, target: str = "", code: str = "") -> None:
    call.does(effect, target or " ".join(["git", *call.argv[:3]]), reason, code=code, verb=f"git.{call.name}")


def read_only(call: Call, rest: list[str]) -> None:
    """Commands that only read; those that show differences can write them to a file."""
    says(call, Effect.READ, "only reads the repository")
    for position, word in enumerate(rest):
        if word == "--":
            break
        if word.startswith("--outp") and "output-indicator" not in word:
            _name, equals, value = word.partition("=")
            call.writes(value if equals else (rest[position + 1 : position + 2] or [HOLE])[0])


def changes(reason: str) -> Verb:
    """A command that changes something local that can be taken back."""

    def verb(call: Call, rest: list[str]) -> None:
        parsed = parse(rest, _COMMIT if call.name == "commit" else spec())
        if parsed.has("--dry-run") or (call.name in ("add", "gc") and parsed.has("-n")):
            says(call, Effect.READ, "tries only")
        else:
            says(call, Effect.LOCAL, reason)

    return verb


def outside(reason: str) -> Verb:
    def verb(call: Call, rest: list[str]) -> None:
        dry = [word for word in rest if word in ("--dry-run", "--no-dry-run")]
        if dry[-1:] == ["--dry-run"] and call.name in ("send-email",):
            says(call, Effect.READ, "tries only")
        else:
            says(call, Effect.EXTERNAL, reason)

    return verb


def loses(reason: str) -> Verb:
    def verb(call: Call, rest: list[str]) -> None:
        dry = any(word in ("-n", "--dry-run") for word in rest) and call.name == "prune"
        says(call, Effect.READ if dry else Effect.DESTRUCTIVE, reason)

    return verb


_COMMIT = spec(
    "-m --message -F --file -C --reuse-message -c --reedit-message -t --template --author --date "
    "--cleanup --fixup --squash --trailer --pathspec-from-file"
)


def by_subcommand(
    read: str, local: str, destructive: str = "", external: str = "", *, bare: Effect = Effect.READ
) -> Verb:
    """A command whose first word decides."""
    table = {
        **dict.fromkeys(read.split(), Effect.READ),
        **dict.fromkeys(local.split(), Effect.LOCAL),
        **dict.fromkeys(destructive.split(), Effect.DESTRUCTIVE),
        **dict.fromkeys(external.split(), Effect.EXTERNAL),
    }

    def verb(call: Call, rest: list[str]) -> None:
        word = next((one for one in rest if not one.startswith("-")), "")
        leading = not rest or not rest[0].startswith("-") or not word
        effect = table.get(word, Effect.UNKNOWN) if word else bare
        if not leading and word not in table:
            effect = bare
        if effect in (Effect.DESTRUCTIVE, Effect.EXTERNAL) and any(
            one in ("--dry-run", "-n") for one in rest
        ):
            effect = Effect.READ
        says(call, effect, f"{call.name} {word}".strip())

    return verb
