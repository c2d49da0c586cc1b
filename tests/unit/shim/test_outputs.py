"""Files that tools write over, in the words of many tools; folders that containers are given."""

import pytest

from sekisho.core.action import Effect
from shim.context import Context, Kind
from shim.mounts import bound, outside
from shim.observe import observe, observe_shell
from shim.options import parse, spec
from tests.unit.shim.test_observe import Tree, effect

L, D, R, X, U = Effect.LOCAL, Effect.DESTRUCTIVE, Effect.READ, Effect.EXTERNAL, Effect.UNKNOWN


class Folders(Tree):
    """`notes.txt` is nobody's but the person's, `clean.py` is committed, `kept` is a folder."""

    def kind(self, path: str) -> Kind:
        return Kind.FOLDER if path in ("/w/kept", "/w") else super().kind(path)


FILES = Folders("/w/notes.txt", clean=("/w/clean.py",))
CONTEXT = Context(cwd="/w", files=FILES)


@pytest.mark.parametrize(
    "command, expected",
    [
        # Known outputs, and those that an option names by custom.
        ("aws s3 cp s3://b/k notes.txt", D),
        ("aws s3 cp s3://b/k new.txt", L),
        ("aws s3 cp s3://b/k clean.py", L),
        ("aws s3 cp --dryrun s3://b/k notes.txt", R),
        ("aws s3 cp s3://b/k kept", L),
        ("aws s3 cp s3://b/k /tmp/", L),
        ("aws s3 cp s3://b/notes.txt .", D),
        ("aws s3 cp s3://b/new.txt ./", L),
        ("aws s3 cp notes.txt s3://b/k", X),
        ("gsutil cp gs://b/k notes.txt", D),
        ("az storage blob download -c c -n x -f notes.txt", D),
        ("gh release download v1 -O notes.txt --clobber", D),
        ("gh release download v1 -O notes.txt", L),
        ("docker cp web:/x notes.txt", D),
        ("docker cp notes.txt web:/x", L),
        ("docker save -o notes.txt alpine", D),
        ("crane export alpine notes.txt", D),
        ("ffmpeg -y -i a.mp4 notes.txt", D),
        ("ffmpeg -i a.mp4 notes.txt", L),
        ("convert a.png notes.txt", D),
        ("convert notes.txt a.png", L),
        ("pandoc clean.py -o notes.txt", D),
        ("pandoc notes.txt -o new.html", L),
        ("eslint -o notes.txt src", D),
        ("eslint --output-file=notes.txt src", D),
        ("eslint -f json src", L),
        ("uv pip compile requirements.in --output-file notes.txt", D),
        ("cc -MMD -MF notes.txt -c x.c", D),
        ("kubectl get pods -o yaml", R),
        ("ls -o notes.txt", R),
        ("mongodump --archive=notes.txt", D),
        ("mongodump --archive", R),
        ("python3 -m zipfile -c notes.txt src", D),
        ("python3 -m zipfile -l notes.txt", R),
        ("hyperfine --export-json notes.txt ls", D),
        ("valgrind --log-file=notes.txt ls", D),
        # Folders that are emptied first.
        ("pytest --basetemp=kept", D),
        ("pytest --basetemp=new", L),
        ("vite build --outDir kept", D),
        ("hugo -d kept", L),
        ("hugo -d kept --cleanDestinationDir", D),
        # git
        ("git mv -f clean.py notes.txt", D),
        ("git mv clean.py notes.txt", L),
        ("git mv -f notes.txt kept", L),
        ("git mv -n -f clean.py notes.txt", R),
        ("cmake -E copy clean.py notes.txt", D),
        ("cmake -E remove_directory kept", D),
        ("cmake -E echo x", R),
    ],
)
def test_a_file_that_git_does_not_have_is_not_written_over(command: str, expected: Effect) -> None:
    assert effect(command, CONTEXT) is expected


@pytest.mark.parametrize("name", ["a.out", "prog", "lib.so", "cover.out", "junit.xml", "test-results.json"])
def test_programs_and_reports_can_be_made_again(name: str) -> None:
    files = Folders(f"/w/{name}")
    context = Context(cwd="/w", files=files)
    assert effect(f"gcc -o {name} x.c", context) is L
    assert effect(f"pytest --junitxml={name}", context) is L
    assert effect(f"ctags -R -o {name} .", context) is L
    assert effect(f"curl -o {name} https://x.example", context) is D


@pytest.mark.parametrize(
    "command, expected",
    [
        ('docker run --rm -v "$PWD":/w alpine rm -rf /w/kept', D),
        ('docker run --rm -v "$PWD":/w:ro alpine rm -rf /w/kept', L),
        ('docker run --rm -v "$PWD":/w alpine rm -rf /var/cache/apk', L),
        ('docker run --rm -v "$PWD":/w -w /w alpine sh -c "rm notes.txt"', D),
        ('docker run --rm -v "$PWD":/w -w /w alpine sh -c "rm -rf node_modules && echo >clean.py"', L),
        ('docker run --rm -v "$PWD":/w -w /w alpine sh -c "cd /tmp && rm -rf kept"', L),
        ("docker run --mount type=bind,src=.,dst=/w alpine rm -rf /w/kept", D),
        ("docker run --mount type=bind,src=.,dst=/w,readonly alpine rm -rf /w/kept", L),
        ("docker run -v data:/w alpine rm -rf /w/kept", L),
        ("podman run -v .:/w alpine sh -c 'cd /w && echo >notes.txt'", D),
        ("docker run -v .:/w -w /w node npm ci", L),
        ("docker run -v .:/w alpine git push", X),
        ("docker run alpine $COMMAND", U),
        ("docker run $ARGUMENTS", U),
        ('docker run "$IMAGE" pytest', L),
        ("docker run " + "".join(f"-v /a{n}:/b{n} " for n in range(40)) + "alpine ls", U),
    ],
)
def test_a_container_loses_what_it_is_given(command: str, expected: Effect) -> None:
    assert effect(command, CONTEXT) is expected


def test_a_path_inside_stands_for_the_deepest_folder_given() -> None:
    parsed = parse(["-v", "/a:/w", "-v", "./b:/w/b", "-v", "/r:/r:ro,z"], spec("-v"))
    mounts = bound(parsed, "/home")
    assert mounts == (("/w/b", "/home/b"), ("/w", "/a"))
    assert outside("/w/b/c", mounts) == "/home/b/c"
    assert outside("/w/x", mounts) == "/a/x"
    assert outside(outside("/w/x", mounts), mounts) == "/a/x"
    assert outside("/etc/x", mounts) == outside(outside("/etc/x", mounts), mounts) != "/etc/x"


class Www(Folders):
    def worktree(self, folder: str) -> str | None:
        return "/var/www/app" if folder.startswith("/var/www/app") else None


@pytest.mark.parametrize(
    "command, expected",
    [
        ("echo x > new.txt", L),
        ("echo x >> notes.txt", L),
        ("echo x > notes.txt", D),
        ("echo x > /var/www/index.html", D),
        ("echo x > /etc/hosts", D),
    ],
)
def test_a_project_in_a_folder_of_the_system_is_a_project(command: str, expected: Effect) -> None:
    files = Www("/var/www/app/notes.txt")
    assert effect(command, Context(cwd="/var/www/app", files=files)) is expected
    assert effect(command, Context(cwd="/etc", files=files)) is D


@pytest.mark.parametrize(
    "command, expected",
    [
        ("corepack npm publish", X),
        ("corepack pnpm@9 publish", X),
        ("corepack enable", L),
        ("cargo +nightly publish", X),
        ("cargo +nightly fmt", L),
        ("rustup run nightly cargo publish", X),
        ("rustup update", L),
        ("fnm exec --using 18 npm publish", X),
        ("fnm use 18", L),
        ("sshpass -p x ssh host ls", X),
        ("nix run nixpkgs#gh -- pr create", X),
        ("nix run nixpkgs#jq -- . a.json", R),
        ("nix run .", U),
        ("cmake -E env git push", X),
        ("man -P 'git push' ls", X),
        ("hyperfine --prepare 'git push' ls", X),
        ("make test CC='git push #'", X),
        ("CC='git push #' make", X),
        ("make test CC='gcc-12 -m32'", L),
        ("make test MESSAGE='git push'", L),
        ("python3 -m cProfile -s time deploy.py", U),
        ("python3 -m trace --trace -m twine upload x", X),
        ("docker push localhost:5000/app", L),
        ("docker push localhost:latest", X),
        ("docker push localhost.example:5000/app", X),
        ("helm push a.tgz oci://localhost:5000/c", L),
        ("grpcurl localhost:50051 a.B/Delete", L),
        ("grpcurl x.example:443 a.B/Delete", X),
        ("grpcurl x.example:443 list", R),
        ("kcat -L -b k.example", R),
        ("kcat -P -b k.example -t t", X),
        ("etcdctl --endpoints http://localhost:2379 put a b", L),
        ("etcdctl put a b", X),
        ("sed -i '' 's/a/b/' clean.py", L),
        ("sed -i '' -e s/a/b/ clean.py", L),
        ("sed -i '' 's/a/b/' notes.txt", D),
        ("sed -i '' 's/a/b/w notes.txt' clean.py", D),
        ("sed -i '' notes.txt", D),
        ("coverage run --source=src -m twine upload x", X),
        ("coverage run --branch -m pytest", L),
        ("coverage run deploy.py", U),
        ("coverage html -d out", L),
        ("coverage report", R),
        ("c8 --reporter text npm publish", X),
        ("nyc npm test", L),
        ("nyc report", R),
        ("run-s build deploy", U),
        ("run-p 'lint:*' test", L),
        ("tox -e py311,lint -- -k deploy", L),
        ("tox -e publish", U),
        ("tox -e $ENVIRONMENT", U),
        ("nox -s docs-release", U),
        ("nox", L),
        ("zig build test", L),
        ("zig build deploy", U),
        ("bazel build //...", L),
        ("mvn exec:exec -Dexec.executable=git -Dexec.args=push", X),
        ("mvn exec:java -Dexec.mainClass=X", U),
        ("jupyter nbconvert --to html a.ipynb", L),
        ("jupyter nbconvert --execute a.ipynb", U),
        ("git for-each-repo --config=x push", X),
        ("git for-each-repo --config=x status", R),
        ("printf 'git push' > .git/hooks/post-commit; git commit -m x", X),
        ("printf '#!/bin/sh\\ngit push' > .git/hooks/post-commit; git commit -m x", X),
        ("printf '#!/usr/bin/env python3\\n1' > .git/hooks/pre-push; git commit -m x", U),
        ("printf 'git push' > .git/hooks/post-commit; git status", L),
        ("rm -f .git/index.lock .git/refs/heads/a/b.lock", L),
        ("rm -f .git/*.lock", D),
        ("rm -f .git/x.lock/../index", D),
        ("rm -f poetry.lock", D),
    ],
)
def test_programs_that_run_others_and_clients_of_servers(command: str, expected: Effect) -> None:
    assert effect(command, CONTEXT) is expected


def test_outputs_are_looked_at_within_bounds() -> None:
    many = ["eslint", *["-o", "notes.txt"] * 20_000]
    assert observe(tuple(many), CONTEXT).effect in (D, U)
    text = "docker run " + "-v /a:/w " * 3000 + "alpine sh -c '" + "rm /w/x;" * 3000 + "'"
    assert observe_shell(text, CONTEXT).effect in (D, U)
