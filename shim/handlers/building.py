"""Build tools: make, gradle, maven, goreleaser."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.grammar import names, tool
from shim.handlers.targets import judge_targets
from shim.options import Parsed, parse, spec
from shim.table import judge_by_table
from shim.text import HOLE, known

_MAKE = spec(
    "-f --file --makefile -C --directory -I --include-dir -o --old-file --assume-old -W --what-if --new-file "
    "--assume-new --eval -E",
    optional="-j --jobs -l --load-average -O --output-sync",
    flags=(
        "--dry-run --just-print --recon --question --touch --print-data-base --version --help "
        "--always-make --keep-going --silent --ignore-errors --print-directory"
    ),
    abbreviate=True,
)
_PRINTS = (
    "-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "-p", "--version", "-v", "--help",
    "-h",
)  # fmt: skip
_COMPARED_A_STEP = 16  # targets with what text on the command line makes


def make(call: Call) -> str | None:
    parsed = parse(call.arguments, _MAKE)
    for text in parsed.all("--eval", "-E"):
        _recipe(call, text)
    _variables(call)
    _programs(call, parsed.words)
    if parsed.has(*_PRINTS):
        call.does(Effect.READ, "make", "prints only")
        return HOLE
    targets = [word for word in parsed.words if "=" not in word] or ["all"]
    made = [text.split(":")[0] for text in parsed.all("--eval", "-E")]
    call.judge.effort.spend(len(made) * len(targets) // _COMPARED_A_STEP)
    targets = [one for one in targets if not any(one in names for names in made)]
    if parsed.wild:
        targets.append(HOLE)
    _files(call, parsed.all("-f", "--file", "--makefile"))
    judge_targets(call, "make", targets)
    return HOLE


def _variables(call: Call) -> None:
    for word in call.arguments:
        if match := re.match(r"(SHELL|MAKE|\.SHELLFLAGS)\s*:?=(.*)", word):
            call.unknown(match[1], "another program runs the recipes", code="environment")
        elif re.match(r"\w+\s*(!=|:?:?=.*\$\(shell)", word):
            call.unknown(word, "a variable runs a command", code="dynamic-command")


# Variables that by custom name a program, which recipes then run.
_PROGRAMS = names(
    "CC CXX CPP LD AR AS NM RANLIB STRIP OBJCOPY INSTALL RM CP MV MKDIR PYTHON PIP NODE NPM GO CARGO GIT "
    "CURL DOCKER KUBECTL SSH RSYNC"
)
_COUNTING = frozenset({Effect.EXTERNAL, Effect.FORBIDDEN, Effect.DESTRUCTIVE})


def _programs(call: Call, words: list[str]) -> None:
    """What such a variable names counts if it would do harm; a compiler need not be known."""
    given = dict(word.partition("=")[::2] for word in words if "=" in word)
    given |= {name: call.state.text(name) or "" for name in _PROGRAMS & call.state.variables.keys()}
    before = len(call.judge.actions)
    for name, text in given.items():
        if name.rstrip(":?") in _PROGRAMS and " " in text and known(text):
            call.shell(text, name="make")
    found = call.judge.actions[before:]
    del call.judge.actions[before:]
    call.judge.actions += [one for one in found if one.effect in _COUNTING]


def _files(call: Call, paths: list[str]) -> None:
    for path in paths:
        name = path.rsplit("/", 1)[-1]
        if not re.fullmatch(r"(?i)(gnu)?makefile.*|.*\.(mk|mak|make)", name) or path.startswith("/"):
            call.unknown(path, "another file holds the recipes", code="script-body")


def _recipe(call: Call, text: str) -> None:
    """Makefile text on the command line: recipe lines and what follows `;` run in a shell."""
    for line in text.splitlines() or [text]:
        if line.startswith("\t"):
            call.shell(line.strip().lstrip("@-+"), name="make")
        elif ";" in line:
            call.shell(line.split(";", 1)[1].strip().lstrip("@-+"), name="make")
        elif match := re.search(r"\$\(shell (.*)\)|!=\s*(.*)", line):
            call.shell(match[1] or match[2], name="make")


_GRADLE = spec(
    "-p --project-dir -b --build-file -I --init-script -g -x --exclude-task -P -D --tests --console -c "
    "--settings-file --max-workers --project-cache-dir --include-build"
)


def gradle(call: Call) -> str | None:
    parsed = parse(call.arguments, _GRADLE)
    if parsed.has("--version", "-v", "--help", "-h", "-?", "-m", "--dry-run", "--status"):
        call.does(Effect.READ, call.name, "prints only")
        return HOLE
    if parsed.has("-I", "--init-script"):
        call.unknown(call.name, "a script decides", code="script-body")
    for task in parsed.words or ["tasks"]:
        name = task.rsplit(":", 1)[-1]
        if name == "publishToMavenLocal":
            call.does(Effect.LOCAL, task, "publishes into the local cache")
        elif re.match(
            r"(publish|uploadArchives|closeAndRelease|artifactoryPublish|bintray|jib$|dockerPush)",
            name,
        ):
            call.does(Effect.EXTERNAL, task, "publishes", code="publishes")
        else:
            judge_targets(call, call.name, [name])
    return HOLE


_MAVEN = spec(
    "-f --file -s --settings -gs --global-settings -pl --projects -P -D -T --threads -l --log-file -t "
    "--toolchains -rf --resume-from -b --builder",
    words=True,
)
_PHASES = frozenset((
    "validate", "initialize", "generate-sources", "process-sources", "generate-resources",
    "process-resources", "compile", "process-classes", "generate-test-sources", "test-compile",
    "process-test-classes", "test", "prepare-package", "package", "pre-integration-test",
    "integration-test", "post-integration-test", "verify", "install", "clean", "site",
))  # fmt: skip
_LOCAL_PLUGINS = frozenset((
    "dependency", "help", "versions", "spotless", "checkstyle", "surefire", "failsafe", "compiler",
    "archetype", "jacoco", "wrapper", "enforcer",
))  # fmt: skip
_PUBLISHING = (":deploy", ":perform", ":upload", ":release", ":publish", ":push", ":deploy-file")


def maven(call: Call) -> str | None:
    parsed = parse(call.arguments, _MAVEN)
    if parsed.has("--version", "-v", "--help", "-h", "-version"):
        call.does(Effect.READ, call.name, "prints help")
        return HOLE
    for goal in parsed.words:
        plugin = goal.split(":", 1)[0]
        if goal in _PHASES or plugin in _LOCAL_PLUGINS:
            call.does(Effect.LOCAL, goal, "builds or tests")
        elif goal in ("deploy", "site-deploy") or goal.endswith(_PUBLISHING):
            call.does(Effect.EXTERNAL, goal, "publishes", code="publishes")
        elif goal in ("exec:exec", "exec:java"):
            _maven_exec(call, goal, parsed)
        elif plugin in ("spring-boot", "quarkus", "jetty"):
            call.does(Effect.LOCAL, goal, "runs the project's own program")
        else:
            call.unknown(goal, "what the goal does is in a plugin", code="script-body")
    return HOLE


def _maven_exec(call: Call, goal: str, parsed: Parsed) -> None:
    given = {name.removeprefix("-D"): value or "" for name, value in parsed.options}
    given |= dict(setting.partition("=")[::2] for setting in parsed.all("-D"))
    program = given.get("exec.executable", "")
    if goal == "exec:exec" and program:
        call.runs([program, *given.get("exec.args", "").split()], stdin=call.stdin)
    else:
        call.unknown(goal, "what the program does is in the project", code="script-body")


_ENVIRONMENTS = spec(
    "-e --env -s --session --sessions -c --conf -f --noxfile -k --keywords -t --tags -m --labels -x "
    "--override -p --parallel --python -P --force-python --workdir --root --default-venv-backend"
)
_PUBLISHES = re.compile(r"(?:.*[-_.:])?(?:publish|release|deploy|upload|push|bump)(?:[-_.:].*)?", re.I)


def environments(call: Call) -> str | None:
    """tox and nox: by convention an environment tests, unless its name says that it publishes."""
    options = "-e --env" if call.name == "tox" else "-s --session --sessions -e"
    end = call.arguments.index("--") if "--" in call.arguments else len(call.arguments)
    parsed = parse(call.arguments[:end], _ENVIRONMENTS)
    wanted = [name for text in parsed.all(*options.split()) for name in text.split(",")]
    wanted += parsed.words
    call.does(Effect.LOCAL, call.name, "tests in environments of its own")
    for name in wanted:
        if not known(name) or _PUBLISHES.fullmatch(name):
            call.unknown(name, f"what {call.name} {name} does is in the project's file", code="script-body")
    return HOLE


_GORELEASER = spec("--skip -f --config --timeout -p --parallelism --release-notes")


def goreleaser(call: Call) -> str | None:
    parsed = parse(call.arguments, _GORELEASER)
    words = parsed.words or ["release"]
    skipped = ",".join(parsed.all("--skip")).split(",")
    if words[0] in ("check", "healthcheck", "jsonschema", "help", "completion"):
        call.does(Effect.READ, words[0], "checks")
    elif words[0] in ("build", "init") or parsed.has("--snapshot", "--skip-publish") or "publish" in skipped:
        call.does(Effect.LOCAL, words[0], "builds without publishing")
    else:
        call.does(Effect.EXTERNAL, words[0], "publishes a release", code="publishes")
    return HOLE


_AS_TOOL = {
    "rm": ["rm"],
    "remove": ["rm", "-f"],
    "remove_directory": ["rm", "-rf"],
    "copy": ["cp"],
    "copy_if_different": ["cp"],
    "copy_directory": ["cp", "-r"],
    "rename": ["mv"],
    "create_symlink": ["ln", "-sf"],
    "make_directory": ["mkdir", "-p"],
    "touch": ["touch"],
    "touch_nocreate": ["touch"],
    "tar": ["tar"],
    "cat": ["cat"],
    "echo": ["echo"],
    "env": ["env"],
    "time": ["time"],
    "chdir": ["env", "-C"],
}


def cmake(call: Call) -> str | None:
    """`cmake -E COMMAND` are the usual tools under names of its own."""
    if call.arguments[:1] == ["-E"] and (same := _AS_TOOL.get("".join(call.arguments[1:2]))):
        return call.runs([*same, *call.arguments[2:]], stdin=call.stdin)
    known_tool = tool("cmake")
    assert known_tool is not None
    return judge_by_table(call, known_tool)
