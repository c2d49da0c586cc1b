"""Stands in front of a tool inside the sandbox: announces the command, then becomes the real tool.

Started by stub.py. Python 3.9, and of the standard library only what needs no import time: sys, posix,
_signal, _socket. The protocol is described in protocol.py. What is rarely needed lies beside it and is
imported then: offline_client.py for times without a gatekeeper, watch.py for test runs. It holds no secret
and guards nothing: who avoids it still stands before the namespace and the proxy.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import sys

SOCKET = b"/run/sekisho/agent.sock"
TABLE, OFTEN = b".offline", b".often"
CLIENTS = b"/run/sekisho/bin"  # where this file is at home, also when it covers /usr/bin/git
REAL = b"/run/sekisho/real"  # the programs that are covered
DEADLINE = 1.0  # seconds for the gatekeeper to answer
STARTING = b"/run/sekisho/outbox/decisions/.starting"  # there while it loads
PATIENCE = 5.0  # seconds then
MAX_ANSWER = 65536
BROKEN, ABSENT = 69, 127
STATUSES = (b"75", b"77", b"69", b"127")
# What decides where a command goes or what it runs; never a secret.
VARIABLES = (
    b"PATH HOME TMPDIR GIT_DIR GIT_WORK_TREE GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS "
    b"GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS "
    b"GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_CONFIG_COUNT EDITOR VISUAL PAGER LD_PRELOAD LD_AUDIT "
    b"LD_LIBRARY_PATH WGETRC CURL_HOME http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY "
    b"no_proxy PGHOST PGSERVICE MYSQL_HOST DOCKER_HOST DOCKER_CONTEXT KUBECONFIG AWS_PROFILE "
    b"AWS_ENDPOINT_URL AWS_REGION GH_REPO GH_HOST TF_CLI_ARGS TF_CLI_ARGS_apply TF_WORKSPACE RSYNC_RSH "
    b"NODE_OPTIONS PYTHONPATH RUBYOPT PERL5OPT SEKISHO_SESSION"
).split()


def main() -> int:
    own = _bytes(sys.argv[0])
    name = own.rsplit(b"/", 1)[-1]
    arguments = [_bytes(word) for word in sys.argv[1:]]
    environment = _environment()
    folder = _folder()
    tool = _find(name, environment.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin"), folder, own)
    called = name
    asked = _often(own, name)
    if asked and tool:
        # An interpreter finds its installation by the name it is called by.
        called = tool
        if not any(_within(words, arguments) for words in asked):
            return _become(called, arguments, tool, environment)
    answer, connection = _ask(_request(tool, folder, name, arguments, environment))
    if answer is None:
        return _without_gatekeeper(own, name, called, arguments, tool, environment)
    if answer[0] == b"refuse":
        _say(answer[2])
        return int(answer[1])
    if connection is not None:
        from sekisho_watch import watch  # type: ignore[import-not-found]

        return int(watch(tool, [called, *arguments], environment, connection))
    return _become(called, arguments, tool, environment)


def _often(own: bytes, name: bytes) -> "list[list[bytes]]":
    """For a tool that starts often: words of which some must be there for the gatekeeper to be asked."""
    lines = _read((own.rsplit(b"/", 1)[0] if b"/" in own else b".") + b"/" + OFTEN, 65536).split(b"\n")
    return [words[1:] for words in (line.split(b" ") for line in lines) if words[0] == name]


def _within(words: "list[bytes]", arguments: "list[bytes]") -> bool:
    size = len(words)
    return any(arguments[at : at + size] == words for at in range(len(arguments) - size + 1))


def _bytes(text: str) -> bytes:
    return text.encode(sys.getfilesystemencoding(), "surrogateescape")


def _environment() -> "dict[bytes, bytes]":
    """The environment as it was given: python adds LC_CTYPE in a C locale."""
    environment = dict(posix.environ)
    if environment.get(b"LC_CTYPE", b"").lower() in (b"c.utf-8", b"c.utf8", b"utf-8"):
        given = b"\0" + _read(b"/proc/self/environ", 4 * 1024 * 1024)
        if len(given) > 1 and b"\0LC_CTYPE=" not in given:
            del environment[b"LC_CTYPE"]
    return environment


def _read(path: bytes, limit: int) -> bytes:
    out = b""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return out
    try:
        while len(out) < limit:
            chunk = posix.read(descriptor, 65536)
            if not chunk:
                break
            out += chunk
    except OSError:
        out = b""
    finally:
        posix.close(descriptor)
    return out


def _folder() -> bytes:
    try:
        return posix.getcwdb()
    except OSError:
        return b"/"


def _identity(path: bytes) -> "tuple[int, int]":
    try:
        found = posix.stat(path)
    except (OSError, ValueError):
        return (-1, -1)
    return (found.st_dev, found.st_ino)


def _find(name: bytes, path: bytes, folder: bytes, own: bytes) -> bytes:
    """The first program of that name that is not this one, however its folder is spelled."""
    self_identity = _identity(own)
    self_folder = _identity(own.rsplit(b"/", 1)[0] or b"/") if b"/" in own else _identity(folder)
    for entry in path.split(b":"):
        place = entry if entry.startswith(b"/") else folder.rstrip(b"/") + b"/" + entry
        candidate = place.rstrip(b"/") + b"/" + name
        try:
            mode = posix.stat(candidate).st_mode
        except (OSError, ValueError):
            continue
        if mode & 0o170000 != 0o100000 or not posix.access(candidate, posix.X_OK):
            continue
        if _identity(candidate) == self_identity or _identity(place) == self_folder:
            continue
        return candidate
    return _covered(name) or _covered(_linked(own))


def _linked(own: bytes) -> bytes:
    """What a link is a link to, by name; empty for what is no link."""
    try:
        return posix.readlink(own).rsplit(b"/", 1)[-1]
    except OSError:
        return b""


def _covered(name: bytes) -> bytes:
    """The real program where this one lies over it; git's own names (git-upload-pack) are links to git."""
    for known in (name, b"git" if name.startswith(b"git-") else name):
        candidate = REAL + b"/" + known
        if known and posix.access(candidate, posix.X_OK):
            return candidate
    return b""


def _request(
    tool: bytes, folder: bytes, name: bytes, arguments: "list[bytes]", environment: "dict[bytes, bytes]"
) -> bytes:
    known = [
        key
        for key in environment
        if key in VARIABLES or key.startswith((b"GIT_CONFIG_KEY_", b"GIT_CONFIG_VALUE_"))
    ]
    known = known[:1000]
    fields = [b"1", b"exec", tool, folder, b"%d" % (len(arguments) + 1), name]
    fields += arguments
    fields.append(b"%d" % len(known))
    fields += [key + b"=" + environment[key] for key in known]
    payload = b"\0".join(fields) + b"\0"
    return b"%d:%s," % (len(payload), payload)


def _ask(request: bytes) -> "tuple[list[bytes] | None, _socket.socket | None]":
    """The answer's fields (None if there is none that can be trusted in time), and the connection where it
    goes on: the tool is to be watched."""
    connection, answer = None, None  # type: _socket.socket | None, list[bytes] | None
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        patience = PATIENCE if posix.access(STARTING, posix.F_OK) else DEADLINE
        end = posix.times().elapsed + patience
        connection.settimeout(patience)
        connection.connect(SOCKET)
        connection.sendall(request)
        answer = _answer(connection, end)
    except (OSError, ValueError):
        answer = None
    if connection is not None and answer != [b"watch"]:
        connection.close()
        connection = None
    return answer, connection


def _answer(connection: "_socket.socket", end: float) -> "list[bytes] | None":
    received = b""
    while True:
        size = _frame_size(received)
        if size < 0:
            return None
        if len(received) < size or not size:
            left = end - posix.times().elapsed
            if left <= 0:
                return None
            connection.settimeout(left)
            chunk = connection.recv(65536)
            if not chunk:
                return None
            received += chunk
            continue
        fields = received[:size].split(b":", 1)[1][:-1].split(b"\0")
        received = received[size:]
        if fields[:1] != [b"1"] or fields[-1:] != [b""]:
            return None
        fields = fields[1:-1]
        if fields in ([b"run"], [b"watch"]) or (
            len(fields) == 3 and fields[0] == b"refuse" and fields[1] in STATUSES
        ):
            return fields
        if len(fields) != 3 or fields[0] != b"wait" or not fields[1].isdigit() or len(fields[1]) > 5:
            return None
        _say(fields[2])
        end = posix.times().elapsed + int(fields[1])


def _frame_size(received: bytes) -> int:
    """The size of the frame that begins here: 0 while it is not told, -1 if there is none."""
    head, colon, rest = received.partition(b":")
    if not colon:
        return 0 if not head or (head.isdigit() and len(head) <= 6) else -1
    if not head.isdigit() or len(head) > 6 or int(head) > MAX_ANSWER:
        return -1
    size = int(head)
    if len(rest) > size and rest[size : size + 1] != b",":
        return -1
    return len(head) + size + 2


def _say(text: bytes) -> None:
    text = text.rstrip(b"\n") + b"\n"
    try:
        while text:
            text = text[posix.write(2, text) :]
    except OSError:
        pass


def _become(called: bytes, arguments: "list[bytes]", tool: bytes, environment: "dict[bytes, bytes]") -> int:
    if not tool:
        _say(b"sekisho: " + called + b" is not in this sandbox. Ask for it with sekisho-request.")
        return ABSENT
    # Python ignores them, and a program that is executed would, too.
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)
    try:
        posix.execve(tool, [called, *arguments], environment)
    except OSError as error:
        _say(b"sekisho: " + tool + b": " + _bytes(error.strerror or "cannot be run"))
        return 126


def _without_gatekeeper(
    own: bytes,
    name: bytes,
    called: bytes,
    arguments: "list[bytes]",
    tool: bytes,
    environment: "dict[bytes, bytes]",
) -> int:
    beside = (own.rsplit(b"/", 1)[0] if b"/" in own else b".") + b"/" + TABLE
    table = _read(beside, 1024 * 1024) or _read(CLIENTS + b"/" + TABLE, 1024 * 1024)
    from sekisho_offline import gated  # type: ignore[import-not-found]

    if gated(table, name, arguments):
        _say(
            b"sekisho: the gatekeeper does not answer, so "
            + name
            + (
                b" is not run: it could change something outside or lose work.\nLocal work goes on. Leave "
                b"this step for the handoff; do not try it again now."
            )
        )
        return BROKEN
    return _become(called, arguments, tool, environment)
