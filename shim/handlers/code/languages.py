"""The languages: their options, and what their text looks like."""

import msgspec

from shim.options import Spec, spec


class Language(msgspec.Struct, frozen=True):
    """`inline` are the options with code; `check` those that only check; `inplace` edits files."""

    name: str
    spec: Spec
    inline: tuple[str, ...]
    check: tuple[str, ...] = ()
    inplace: str = ""
    backticks: bool = False  # backquotes run a shell
    hash_comments: bool = False
    bare: bool = False  # calls need no brackets


LANGUAGES: dict[str, Language] = {
    "perl": Language(
        "perl",
        spec("-e -E -I -M -m -x -C -D", optional="-i -F", stop=True),
        ("-e", "-E"),
        ("-c",),
        "-i",
        backticks=True,
        hash_comments=True,
        bare=True,
    ),
    "ruby": Language(
        "ruby",
        spec("-e -I -r -C -E -x", optional="-i -F -W -K -T", stop=True),
        ("-e",),
        ("-c",),
        "-i",
        backticks=True,
        hash_comments=True,
        bare=True,
    ),
    "node": Language(
        "node",
        spec("-e --eval -p --print -r --require --import --loader -C --conditions --env-file", stop=True),
        ("-e", "--eval", "-p", "--print", "-pe"),
        ("-c", "--check"),
    ),
    "php": Language(
        "php",
        spec("-r -B -R -E -d -c -f -z -t -S", stop=True),
        ("-r", "-B", "-R", "-E"),
        ("-l", "-i", "-m"),
        backticks=True,
        hash_comments=True,
    ),
    "lua": Language("lua", spec("-e -l", stop=True), ("-e",)),
}
