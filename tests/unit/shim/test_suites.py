"""Which commands are test runs, and who runs the tests."""

import pytest

from shim.suites import NAMES, OFTEN, Suite, often, suite

DIRECT = {
    "pytest": "pytest",
    "pytest -q tests/unit": "pytest",
    ".venv/bin/pytest": "pytest",
    "py.test -x": "pytest",
    "python3 -m pytest -q": "pytest",
    "python -I -W error -m pytest": "pytest",
    "python3 -Im pytest": "pytest",
    "python3 -m unittest discover": "unittest",
    "coverage run -m pytest": "pytest",
    "python3 -m coverage run --branch -m unittest": "unittest",
    "uv run pytest -q": "pytest",
    "uv run --with x pytest": "pytest",
    "poetry run python -m pytest": "pytest",
    "npx jest --ci": "jest",
    "npx --yes vitest run": "vitest",
    "yarn jest": "jest",
    "npm exec mocha": "mocha",
    "node --test": "node",
    "node --experimental-test-coverage --test x.js": "node",
    "cargo test": "cargo",
    "cargo +nightly t --release": "cargo",
    "cargo nextest run": "nextest",
    "go test ./...": "go",
    "mvn -q test": "maven",
    "mvn -f x/pom.xml clean verify": "maven",
    "gradle :app:test": "gradle",
    "dotnet test": "dotnet",
    "ctest --output-on-failure": "ctest",
    "bundle exec rspec": "rspec",
    "phpunit": "phpunit",
    "bats test": "bats",
    "deno test -A": "deno",
    "bun test": "bun",
}
INDIRECT = {
    "make test": "",
    "make -C sub -j4 check": "",
    "tox -e py312": "pytest",
    "python3 -m tox": "pytest",
    "python3 manage.py test app": "unittest",
    "npm test": "",
    "npm run test:unit": "",
    "pnpm t": "",
    "yarn test": "",
    "npm --prefix web test": "",
    "rake spec": "",
}
NOT = """true
echo pytest
python3 test.py
python3 -c 'import unittest'
python3 -m pip install pytest
python3 x.py -m pytest
pytest --version
pytest --collect-only
node test.js --test
node -e 1
npm install
npm run build
make
make -n test
make release
cargo build
cargo test --no-run
go vet ./...
go build test
mvn -DskipTests package
mvn deploy
uv run ruff check
uv pip install pytest
npx prettier
gradle assemble""".splitlines()


@pytest.mark.parametrize("command", DIRECT)
def test_a_runner_is_known(command: str) -> None:
    found = suite(command.split())
    assert found is not None
    assert (found.runner, found.direct, found.script) == (DIRECT[command], True, "")


@pytest.mark.parametrize("command", INDIRECT)
def test_what_a_file_of_the_project_says_is_not_a_runner(command: str) -> None:
    found = suite(command.split())
    assert found is not None
    assert (found.runner, found.direct) == (INDIRECT[command], False)


@pytest.mark.parametrize("command", NOT)
def test_other_commands_are_no_test_runs(command: str) -> None:
    assert suite(command.split()) is None
    assert suite([]) is None


def test_the_script_and_the_module_are_named() -> None:
    assert suite(["npm", "test"]) == Suite(runner="", direct=False, script="test")
    assert suite(["python3", "-m", "pytest"]) == Suite(runner="pytest", module="pytest")


@pytest.mark.parametrize("command", [*DIRECT, *INDIRECT])
def test_the_client_asks_about_every_test_run_of_a_name_that_starts_often(command: str) -> None:
    name, *arguments = command.split()
    if name in OFTEN and "-Im" not in arguments:
        assert often(name, arguments)


@pytest.mark.parametrize(
    "command", ["python3 x.py", "python3 -m http.server", "node x.js", "make", "make all"]
)
def test_the_client_does_not_ask_about_ordinary_calls(command: str) -> None:
    name, *arguments = command.split()
    assert not often(name, arguments)


def test_no_name_that_starts_often_is_in_front_of_all_calls() -> None:
    assert not set(OFTEN) & set(NAMES)
