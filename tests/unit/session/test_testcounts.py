"""Counts from what runners printed: real summaries, and text that is none."""

import pytest

from sekisho.session.testcounts import Counts, read

SUMMARIES: list[tuple[str, str, Counts]] = [
    ("pytest", "...\n3 passed in 0.12s\n", Counts(passed=3)),
    (
        "pytest",
        "=== 2 failed, 1 passed, 3 skipped, 1 warning in 61.20s (0:01:01) ===",
        Counts(passed=1, failed=2, skipped=3),
    ),
    ("pytest", "1 skipped in 0.01s", Counts(skipped=1)),
    ("pytest", "no tests ran in 0.01s", Counts()),
    ("pytest", "======= 2 deselected in 0.86s =======", Counts(deselected=2)),
    ("pytest", "1 passed, 2 xfailed, 1 xpassed, 1 error in 0.10s", Counts(passed=2, skipped=2, failed=1)),
    ("pytest", "\x1b[32m\x1b[1m1 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m", Counts(passed=1)),
    ("pytest", "2 passed in 0.1s\npy311: OK\n1 passed, 1 skipped in 0.2s\n", Counts(passed=3, skipped=1)),
    ("unittest", "Ran 3 tests in 0.010s\n\nOK (skipped=1, expected failures=1)", Counts(passed=1, skipped=2)),
    ("unittest", "Ran 3 tests in 0.010s\n\nFAILED (failures=1, errors=1)", Counts(passed=1, failed=2)),
    ("unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", Counts()),
    ("unittest", "Ran 2 tests in 0.000s\n\nOK", Counts(passed=2)),
    (
        "node",
        "# tests 2\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 1\n# todo 0\n",
        Counts(passed=1, skipped=1),
    ),
    ("node", "\u2139 pass 2\n\u2139 fail 1\n\u2139 cancelled 1\n", Counts(passed=2, failed=2)),
    ("jest", "Tests:       1 failed, 2 skipped, 3 passed, 6 total\n", Counts(passed=3, failed=1, skipped=2)),
    ("vitest", "      Tests  1 failed | 2 passed | 3 skipped (6)\n", Counts(passed=2, failed=1, skipped=3)),
    ("mocha", "\n  3 passing (10ms)\n  2 pending\n  1 failing\n", Counts(passed=3, failed=1, skipped=2)),
    ("bun", " 2 pass\n 1 skip\n 0 fail\nRan 3 tests", Counts(passed=2, skipped=1)),
    ("deno", "ok | 3 passed | 0 failed | 1 ignored (10ms)", Counts(passed=3, skipped=1)),
    (
        "cargo",
        (
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished\n"
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out;\n"
        ),
        Counts(passed=4, failed=1, skipped=1, deselected=2),
    ),
    (
        "nextest",
        "     Summary [ 0.1s] 3 tests run: 2 passed, 1 failed, 4 skipped",
        Counts(passed=2, failed=1, skipped=4),
    ),
    (
        "go",
        "ok  \texample.com/a\t0.01s\nok  \texample.com/b\t(cached)\n?   \texample.com/c\t[no test files]\n",
        Counts(passed=2, skipped=1, unit="packages"),
    ),
    ("go", "FAIL\texample.com/a\t0.01s\n", Counts(failed=1, unit="packages")),
    ("go", "ok  \texample.com/a\t0.01s [no tests to run]\n", Counts(skipped=1, unit="packages")),
    (
        "go",
        "--- PASS: TestA (0.00s)\n    --- SKIP: TestB (0.00s)\nok  \ta\t0.1s\n",
        Counts(passed=1, skipped=1),
    ),
    (
        "maven",
        (
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\n"
            "[INFO] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n"
        ),
        Counts(passed=2, failed=2, skipped=1),
    ),
    ("gradle", "5 tests completed, 1 failed, 1 skipped\n", Counts(passed=3, failed=1, skipped=1)),
    ("ctest", "80% tests passed, 1 tests failed out of 5\n", Counts(passed=4, failed=1)),
    ("ctest", "No tests were found!!!", Counts()),
    ("rspec", "5 examples, 1 failure, 2 pending\n", Counts(passed=2, failed=1, skipped=2)),
    ("phpunit", "OK (5 tests, 8 assertions)\n", Counts(passed=5)),
    ("phpunit", "Tests: 5, Assertions: 8, Failures: 1, Skipped: 2.\n", Counts(passed=2, failed=1, skipped=2)),
    ("bats", "1..3\nok 1 a\nnot ok 2 b\nok 3 c # skip\n", Counts(passed=1, failed=1, skipped=1)),
    ("bats", "3 tests, 1 failure, 1 skipped\n", Counts(passed=1, failed=1, skipped=1)),
    ("tap", "1..0 # nothing\n", Counts()),
    (
        "dotnet",
        "Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4",
        Counts(passed=3, skipped=1),
    ),
]


@pytest.mark.parametrize(("runner", "output", "counts"), SUMMARIES)
def test_a_summary_is_read(runner: str, output: str, counts: Counts) -> None:
    assert read(runner, f"some lines\n{output}") == counts


@pytest.mark.parametrize("runner", sorted({runner for runner, _, _ in SUMMARIES}))
@pytest.mark.parametrize("output", ["", "passed", "all tests passed!\n", "3 tests are fine in here\n"])
def test_what_is_no_summary_has_no_counts(runner: str, output: str) -> None:
    assert read(runner, output) is None


def test_an_unknown_runner_has_no_counts() -> None:
    assert read("", "3 passed in 0.1s") is None


def test_all_that_came_to_a_result_was_collected() -> None:
    assert Counts(passed=1, failed=2, skipped=3, deselected=4).collected == 6
