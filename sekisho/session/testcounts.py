"""How many tests a runner says it ran, read from the summary it printed. Pure.

Each form is the runner's own text, as current versions print it without a terminal. What is not found is
unknown (None), never zero.
"""

import re
from collections.abc import Callable

import msgspec

_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(\x07|\x1b\\))")


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """`failed` has errors in it; `deselected` were found and not asked for. `unit` is what was counted."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    deselected: int = 0
    unit: str = "tests"

    @property
    def collected(self) -> int:
        """All that came to a result in this run."""
        return self.passed + self.failed + self.skipped


Reader = Callable[[str], Counts | None]


def read(runner: str, output: str) -> Counts | None:
    """The counts in what a runner printed, None where its summary is not there."""
    reader = _READERS.get(runner)
    return None if reader is None else reader(_ESCAPES.sub("", output).replace("\r", "\n"))


def _number(pattern: str, text: str) -> int:
    """The sum of the numbers that a pattern finds."""
    return sum(map(int, re.findall(pattern, text)))


def _parts(line: str, passed: str, failed: str, skipped: str) -> Reader:
    """A reader of the last text that `line` finds, with a pattern for each number."""

    def reader(text: str) -> Counts | None:
        found = list(re.finditer(line, text, re.M))
        if not found:
            return None
        shown = found[-1][0]
        return Counts(
            passed=_number(passed, shown), failed=_number(failed, shown), skipped=_number(skipped, shown)
        )

    return reader


def _total(line: str, failed: str, skipped: str) -> Reader:
    """As `_parts`, where the first group of `line` is the number of all."""

    def reader(text: str) -> Counts | None:
        found = list(re.finditer(line, text, re.M))
        if not found:
            return None
        bad, left = _number(failed, found[-1][0]), _number(skipped, found[-1][0])
        return Counts(passed=max(int(found[-1][1]) - bad - left, 0), failed=bad, skipped=left)

    return reader


_PYTEST = re.compile(
    r"^(?:=+ )?(?:no tests (?:ran|collected)|\d+ [a-z]+)(?:, \d+ [a-z]+)*.* in [\d.]+s", re.M
)


def _pytest(text: str) -> Counts | None:
    """`2 failed, 1 passed, 3 skipped in 0.12s`, or `no tests ran in 0.01s`. tox and nox print several."""
    lines = "\n".join(found[0] for found in _PYTEST.finditer(text))
    if not lines:
        return None
    return Counts(
        passed=_number(r"\b(\d+) x?passed\b", lines),
        failed=_number(r"\b(\d+) (?:failed|errors?)\b", lines),
        skipped=_number(r"\b(\d+) (?:skipped|xfailed)\b", lines),
        deselected=_number(r"\b(\d+) deselected\b", lines),
    )


def _unittest(text: str) -> Counts | None:
    """`Ran 4 tests in 0.001s`, then `OK (skipped=4)` or `FAILED (failures=1, errors=1)`."""
    ran = list(re.finditer(r"^Ran (\d+) tests? in", text, re.M))
    if not ran:
        return None
    rest = text[ran[-1].end() :]
    failed = _number(r"\b(?:(?<!expected )failures|errors|unexpected successes)=(\d+)", rest)
    skipped = _number(r"\b(?:skipped|expected failures)=(\d+)", rest)
    return Counts(passed=max(int(ran[-1][1]) - failed - skipped, 0), failed=failed, skipped=skipped)


def _node(text: str) -> Counts | None:
    """The summary of node:test: `# pass 3` in TAP, with an information sign else."""
    form = r"^(?:#|\u2139) (pass|fail|cancelled|skipped|todo) (\d+)"
    found = {word: int(number) for word, number in re.findall(form, text, re.M)}
    if "pass" not in found:
        return None
    return Counts(
        passed=found["pass"],
        failed=found.get("fail", 0) + found.get("cancelled", 0),
        skipped=found.get("skipped", 0) + found.get("todo", 0),
    )


def _cargo(text: str) -> Counts | None:
    """`test result: ok. 3 passed; 0 failed; 1 ignored; …` for each crate and for documentation."""
    lines = "\n".join(re.findall(r"^test result: .*", text, re.M))
    if not lines:
        return None
    return Counts(
        passed=_number(r"(\d+) passed", lines),
        failed=_number(r"(\d+) failed", lines),
        skipped=_number(r"(\d+) ignored", lines),
        deselected=_number(r"(\d+) filtered out", lines),
    )


def _go(text: str) -> Counts | None:
    r"""With -v the tests, else the packages: `ok  \texample.com/a\t0.01s`."""
    single = [len(re.findall(rf"^ *--- {word}: ", text, re.M)) for word in ("PASS", "FAIL", "SKIP")]
    fine = re.findall(r"^ok +\t\S+.*$", text, re.M)
    bad = re.findall(r"^FAIL\t\S+", text, re.M)
    without = re.findall(r"\[no test files\]$", text, re.M)
    if single[0] or single[2]:
        return Counts(passed=single[0], failed=single[1] or len(bad), skipped=single[2])
    if not fine and not bad and not without:
        return None
    empty = sum("[no tests to run]" in line for line in fine)
    skipped = len(without) + empty
    return Counts(passed=len(fine) - empty, failed=len(bad), skipped=skipped, unit="packages")


def _maven(text: str) -> Counts | None:
    """The summaries of Surefire and Failsafe, one a module; lines about a single class give its time."""
    form = r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?!.*Time elapsed)"
    rows = [[int(number) for number in row] for row in re.findall(form, text)]
    if not rows:
        return None
    run, failures, errors, skipped = (sum(column) for column in zip(*rows, strict=True))
    bad = failures + errors
    return Counts(passed=max(run - bad - skipped, 0), failed=bad, skipped=skipped)


def _ctest(text: str) -> Counts | None:
    if "No tests were found" in text:
        return Counts()
    found = re.search(r"tests passed, (\d+) tests? failed out of (\d+)", text)
    if found is None:
        return None
    failed, skipped = int(found[1]), len(re.findall(r"\*\*\*(?:Skipped|Not Run)", text))
    return Counts(passed=max(int(found[2]) - failed - skipped, 0), failed=failed, skipped=skipped)


def _tap(text: str) -> Counts | None:
    """https://testanything.org/tap-version-14-specification.html, top level only."""
    points = re.findall(r"^(ok|not ok)\b([^\n]*)", text, re.M)
    if not points:
        return Counts() if re.search(r"^1\.\.0\b", text, re.M) else None
    left = [bool(re.search(r"# *(?:skip|todo)", rest, re.I)) for _, rest in points]
    failed = sum(word == "not ok" and not skip for (word, _), skip in zip(points, left, strict=True))
    return Counts(passed=len(points) - failed - sum(left), failed=failed, skipped=sum(left))


def _bats(text: str) -> Counts | None:
    """TAP without a terminal; else `5 tests, 1 failure, 2 skipped`."""
    return _tap(text) or _total(r"^(\d+) tests?, .*", r"(\d+) failures?", r"(\d+) skipped")(text)


_LEFT_OUT = r"(\d+) (?:skipped|todo|pending)"
_READERS: dict[str, Reader] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "node": _node,
    "cargo": _cargo,
    "go": _go,
    "maven": _maven,
    "ctest": _ctest,
    "tap": _tap,
    "bats": _bats,
    "jest": _parts(r"^Tests: +.*\d+ total", r"(\d+) passed", r"(\d+) failed", _LEFT_OUT),
    "vitest": _parts(r"^ *Tests +.*\(\d+\)", r"(\d+) passed", r"(\d+) failed", _LEFT_OUT),
    "mocha": _parts(
        r"^ *\d+ passing \(.*\)(?:\n *\d+ (?:pending|failing))*",
        r"(\d+) passing",
        r"(\d+) failing",
        _LEFT_OUT,
    ),
    "bun": _parts(
        r"^ *\d+ pass(?:\n *\d+ (?:skip|todo|fail))*", r"(\d+) pass", r"(\d+) fail", r"(\d+) (?:skip|todo)"
    ),
    "deno": _parts(r"^(?:ok|FAILED) \| .*\(.*\)", r"(\d+) passed", r"(\d+) failed", r"(\d+) ignored"),
    "nextest": _parts(
        r"^ *Summary .*tests? run:.*", r"(\d+) passed", r"(\d+) (?:failed|timed out)", _LEFT_OUT
    ),
    "dotnet": _parts(
        r"Failed: +\d+, Passed: +\d+, Skipped: +\d+", r"Passed: +(\d+)", r"Failed: +(\d+)", r"Skipped: +(\d+)"
    ),
    # Printed only where a test failed.
    "gradle": _total(r"^(\d+) tests? completed.*", r"(\d+) failed", r"(\d+) skipped"),
    "rspec": _total(r"^(\d+) examples?, .*", r"(\d+) (?:failures?|errors?)\b", r"(\d+) pending"),
    "phpunit": _total(
        r"^(?:OK.*\(|Tests: )(\d+)(?: tests?|,).*",
        r"(?:Failures|Errors): (\d+)",
        r"(?:Skipped|Incomplete): (\d+)",
    ),
}
