"""Which commands run tests, and what then runs them. Pure.

A runner is *direct* where the program itself collects and runs tests; *indirect* where a file of the project
says what runs (a Makefile, a tox.ini, a script of package.json): what is printed then is the project's word.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from shim.options import Parsed, Spec, parse, spec


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """A test command. `runner` names the form of its summary, "" for none that is known.

    `module` is the Python module that runs, `script` the entry of package.json; each "" where there is none.
    """

    runner: str
    direct: bool = True
    module: str = ""
    script: str = ""


# Program -> form of its summary.
PROGRAMS: dict[str, str] = {
    "pytest": "pytest", "py.test": "pytest", "pytest-3": "pytest", "unittest": "unittest", "jest": "jest",
    "nose2": "unittest", "vitest": "vitest", "mocha": "mocha", "tap": "tap", "ctest": "ctest",
    "rspec": "rspec", "phpunit": "phpunit", "bats": "bats", "gotestsum": "go", "cargo-nextest": "nextest",
}  # fmt: skip
_INDIRECT = {"tox": "pytest", "nox": "pytest"}
_LISTING = frozenset(
    ("--version", "-V", "--help", "-h", "--collect-only", "--co", "--fixtures", "--listTests", "-N")
)

# Names that tests are started by, besides those the client is in front of anyway.
NAMES: tuple[str, ...] = (
    *PROGRAMS, *_INDIRECT, "cargo", "go", "mvn", "gradle", "dotnet", "bun", "bunx", "npx", "deno", "uv",
    "poetry", "pdm", "hatch", "pipenv", "coverage", "rake", "bundle", "composer",
)  # fmt: skip

# Names that start far too often to ask about each call: words, one after the other, that make it a test.
OFTEN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("python3", "python"),
        ("-m pytest", "-m unittest", "-m nose2", "-m tox", "-m nox", "-m coverage", "test"),
    ),
    "node": ("--test",),
    "make": ("test", "tests", "check"),
}

_NPM = spec("--prefix -w --workspace -C --dir --filter --cwd --loglevel")
_MAKE = spec("-C --directory -f --file --makefile -I --include-dir -o -W -l", optional="-j")
_CARGO = spec("-C --config --color -Z --manifest-path -p --package", stop=True)
_GO = spec("-C", words=True, stop=True)
_MAVEN = spec("-f --file -s --settings -gs -pl --projects -P -T --threads -rf -l --log-file", words=True)
_GRADLE = spec("-b --build-file -c -g -p --project-dir -I --init-script -x --tests", words=True)
_RUN = spec("-C --directory -P --project -p --python --with --extra --group -e --env-file -E", stop=True)
_COVERAGE = spec("-m --module --source --omit --include --rcfile --data-file --context", stop=True)
_PLAIN = spec()

Reader = Callable[[list[str]], Suite | None]


def suite(argv: Sequence[str]) -> Suite | None:
    """The test run that a command is, None for any other command."""
    if not argv:
        return None
    name = argv[0].rpartition("/")[2]
    if name in PROGRAMS or name in _INDIRECT:
        if _LISTING.intersection(argv[1:]):
            return None
        return Suite(runner=(PROGRAMS | _INDIRECT)[name], direct=name in PROGRAMS)
    reader = _READERS.get(name)
    return None if reader is None else reader(list(argv[1:]))


def often(name: str, arguments: Sequence[str]) -> bool:
    """What the client asks before it announces a call of one of the names in `OFTEN`."""
    return any(_contains(arguments, words.split()) for words in OFTEN[name])


def _contains(arguments: Sequence[str], words: Sequence[str]) -> bool:
    size = len(words)
    return any(list(arguments[at : at + size]) == words for at in range(len(arguments) - size + 1))


def _python(arguments: list[str]) -> Suite | None:
    """`-m MODULE` ends the interpreter's own options; a script named manage.py or setup.py may test, too."""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("-W", "-X"):
            rest = rest[1:]
        elif word == "-c":
            return None
        elif word.startswith("-") and not word.startswith("--"):
            if word.endswith("m"):
                return _module(rest)
        elif not word.startswith("-"):
            tests = word.rpartition("/")[2] in ("manage.py", "setup.py") and "test" in rest
            return Suite(runner="unittest", direct=False) if tests else None
    return None


def _module(words: list[str]) -> Suite | None:
    if not words:
        return None
    name, rest = words[0], words[1:]
    if name == "coverage":
        return _coverage(rest)
    found = suite([name, *rest]) if name in PROGRAMS or name in _INDIRECT else None
    return None if found is None else msgspec.structs.replace(found, module=name)


def _coverage(arguments: list[str]) -> Suite | None:
    if arguments[:1] != ["run"]:
        return None
    parsed = parse(arguments[1:], _COVERAGE)
    module = parsed.last("-m", "--module")
    return _module([module, *parsed.words]) if module else None


def _node(arguments: list[str]) -> Suite | None:
    """Only node's own options count, and they end at the program."""
    for word in arguments:
        if word == "--test":
            return Suite(runner="node")
        if not word.startswith("-"):
            return None
    return None


def _npm(arguments: list[str]) -> Suite | None:
    words = parse(arguments, _NPM).words
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb in ("test", "t", "tst", "it", "install-test", "cit"):
        return Suite(runner="", direct=False, script="test")
    if verb in ("run", "run-script", "rum", "urn") and rest and _is_test(rest[0]):
        return Suite(runner="", direct=False, script=rest[0])
    if verb in ("exec", "x", "dlx"):
        return suite(rest)
    return _yarn(words)


def _yarn(words: list[str]) -> Suite | None:
    """yarn and pnpm run a script or a program without any verb."""
    if words and _is_test(words[0]):
        return Suite(runner="", direct=False, script=words[0])
    return suite(words) if words and words[0] in PROGRAMS else None


def _is_test(name: str) -> bool:
    return name in ("test", "tests", "check") or name.startswith(("test:", "test-"))


def _words(options: Spec, verbs: str, found: Suite) -> Reader:
    """A reader for a tool whose first word says it."""
    known = frozenset(verbs.split())

    def read(arguments: list[str]) -> Suite | None:
        words = parse(arguments, options).words
        return found if words and words[0] in known else None

    return read


def _targets(options: Spec, verbs: str, found: Suite) -> Reader:
    """A reader for a tool where any of its words says it."""
    known = frozenset(verbs.split())

    def read(arguments: list[str]) -> Suite | None:
        parsed = parse(arguments, options)
        return found if _tests(parsed, known) else None

    return read


def _tests(parsed: Parsed, known: frozenset[str]) -> bool:
    dry = parsed.has("-n", "--dry-run", "--just-print", "-m", "-DskipTests", "-Dmaven.test.skip")
    return not dry and any(word.rpartition(":")[2] in known for word in parsed.words)


def _cargo(arguments: list[str]) -> Suite | None:
    # cargo +nightly test
    words = parse([word for word in arguments if not word.startswith("+")], _CARGO).words
    if words[:1] in (["test"], ["t"]):
        return None if "--no-run" in words or "--list" in words else Suite(runner="cargo")
    if words[:1] == ["nextest"] and words[1:2] in (["run"], ["r"]):
        return Suite(runner="nextest")
    return None


def _within(verbs: str) -> Reader:
    """A reader for a tool that starts another one: `uv run pytest`."""
    known = frozenset(verbs.split())

    def read(arguments: list[str]) -> Suite | None:
        outer = parse(arguments, _RUN).words
        if not outer or (known and outer[0] not in known):
            return None
        return suite(parse(outer[1:], _RUN).words if known else outer)

    return read


_READERS: Mapping[str, Reader] = {
    "python3": _python,
    "python": _python,
    "node": _node,
    "npm": _npm,
    "pnpm": _npm,
    "yarn": _npm,
    "npx": _within(""),
    "bunx": _within(""),
    "bun": _words(_PLAIN, "test", Suite(runner="bun")),
    "deno": _words(_PLAIN, "test", Suite(runner="deno")),
    "cargo": _cargo,
    "go": _words(_GO, "test", Suite(runner="go")),
    "mvn": _targets(_MAVEN, "test verify integration-test package install", Suite(runner="maven")),
    "gradle": _targets(_GRADLE, "test check build", Suite(runner="gradle")),
    "make": _targets(_MAKE, "test tests check", Suite(runner="", direct=False)),
    "dotnet": _words(_PLAIN, "test vstest", Suite(runner="dotnet")),
    "rake": _targets(_PLAIN, "test spec", Suite(runner="", direct=False)),
    "composer": _words(_PLAIN, "test", Suite(runner="", direct=False)),
    "bundle": _within("exec"),
    "uv": _within("run"),
    "poetry": _within("run"),
    "pdm": _within("run"),
    "pipenv": _within("run"),
    "hatch": _words(_PLAIN, "test", Suite(runner="pytest", direct=False)),
    "coverage": _coverage,
}
