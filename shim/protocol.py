"""Frames between the client in the sandbox and the gatekeeper. Pure: bytes in, values out.

A frame is a netstring (https://cr.yp.to/proto/netstrings.txt): `LENGTH:PAYLOAD,` with a payload of fields
that each end in NUL. No argument, path or variable can hold NUL, so nothing is escaped.

request   "1" "exec" TOOL CWD ARGC ARG… ENVC NAME=VALUE…      TOOL is the real program's path, or ""
answer    "1" "run" | "1" "watch" | "1" "refuse" STATUS TEXT
          | "1" "wait" SECONDS TEXT (another answer follows)

After "watch" the client runs the tool as a child, reports its end on the same connection, and waits until
that is closed:
report    "1" "ended" STATUS OUTPUT     STATUS 128 + number for a signal; OUTPUT the end of what it printed
"""

from functools import lru_cache

import msgspec

VERSION = "1"
MAX_FRAME = 1024 * 1024
MAX_ARGUMENTS = 10_000
MAX_VARIABLES = 1_000
MAX_TEXT = 32 * 1024
MAX_WAIT = 86_400
MAX_OUTPUT = 64 * 1024  # bytes of a report
# The callers of one session mostly have the same variables.
_KNOWN_ENVIRONMENTS, _LONGEST_KNOWN = 64, 4096
_LENGTH_DIGITS = len(str(MAX_FRAME))

HELD, DENIED, BROKEN, ABSENT = 75, 77, 69, 127
STATUSES = frozenset((HELD, DENIED, BROKEN, ABSENT))


class Malformed(ValueError):
    """Bytes that are not a frame of this protocol, or exceed a limit."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A command the sandbox is about to run. Texts are file-system encoded (surrogateescape)."""

    argv: tuple[str, ...]
    cwd: str
    tool: str = ""  # the real program's absolute path; empty: not there
    environment: tuple[tuple[str, str], ...] = ()


class Run(msgspec.Struct, frozen=True):
    """Run it."""


class Refuse(msgspec.Struct, frozen=True, kw_only=True):
    """Do not run it; print `text`, exit with `status`."""

    status: int
    text: str


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """A person is asked; the next answer comes within `seconds`."""

    seconds: int
    text: str


class Watch(msgspec.Struct, frozen=True):
    """Run it as a child, and report how it ended."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a watched command ended. `output` has the end of what it printed to no terminal."""

    status: int
    output: str = ""


Answer = Run | Refuse | Wait | Watch


def encode_request(asked: Asked) -> bytes:
    """Raises Malformed for what cannot be sent."""
    if not 1 <= len(asked.argv) <= MAX_ARGUMENTS or len(asked.environment) > MAX_VARIABLES:
        raise Malformed("too many arguments or variables, or none")
    fields = [VERSION, "exec", asked.tool, asked.cwd, str(len(asked.argv)), *asked.argv]
    fields += [str(len(asked.environment)), *(f"{name}={value}" for name, value in asked.environment)]
    return _frame(fields)


def decode_request(payload: bytes) -> Asked:
    """The request in a payload. Raises Malformed."""
    fields = _text(payload).split("\0", 5)
    if fields[:2] != [VERSION, "exec"] or len(fields) < 6:
        raise Malformed("not a request of this version")
    tool, cwd = fields[2], fields[3]
    count = _number(fields[4], MAX_ARGUMENTS)
    *argv, variables = fields[5].split("\0", count)
    if not count or len(argv) != count:
        raise Malformed("the number of arguments is wrong")
    if not cwd.startswith("/") or (tool and not tool.startswith("/")) or not argv[0]:
        raise Malformed("a path is not absolute, or there is no command")
    short = len(variables) <= _LONGEST_KNOWN
    environment = _known_environment(variables) if short else _environment(variables)
    return Asked(argv=tuple(argv), cwd=cwd, tool=tool, environment=environment)


def _environment(text: str) -> tuple[tuple[str, str], ...]:
    """The variables after their number. Raises Malformed."""
    number, *variables = text.split("\0")
    if len(variables) != _number(number, MAX_VARIABLES):
        raise Malformed("the number of variables is wrong")
    environment = []
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not name or not equals:
            raise Malformed("a variable without a name")
        environment.append((name, value))
    return tuple(environment)


_known_environment = lru_cache(maxsize=_KNOWN_ENVIRONMENTS)(_environment)


def encode_answer(answer: Answer) -> bytes:
    """Texts that are too long are cut; NUL in them is dropped."""
    if isinstance(answer, Run):
        return _frame([VERSION, "run"])
    if isinstance(answer, Watch):
        return _frame([VERSION, "watch"])
    text = answer.text.replace("\0", "")[:MAX_TEXT]
    if isinstance(answer, Refuse):
        if answer.status not in STATUSES:
            raise Malformed(f"{answer.status} is not a status of a refusal")
        return _frame([VERSION, "refuse", str(answer.status), text])
    return _frame([VERSION, "wait", str(min(max(answer.seconds, 1), MAX_WAIT)), text])


def decode_answer(payload: bytes) -> Answer:
    """Raises Malformed."""
    fields = _fields(payload)
    if fields == [VERSION, "run"]:
        return Run()
    if fields == [VERSION, "watch"]:
        return Watch()
    if len(fields) == 4 and fields[:2] == [VERSION, "refuse"]:
        status = _number(fields[2], 255)
        if status in STATUSES:
            return Refuse(status=status, text=fields[3])
    if len(fields) == 4 and fields[:2] == [VERSION, "wait"]:
        return Wait(seconds=_number(fields[2], MAX_WAIT), text=fields[3])
    raise Malformed("not an answer of this version")


def encode_ended(ended: Ended) -> bytes:
    """The report of a watched command; of too much output the end, without NUL."""
    output = ended.output.replace("\0", "").encode("utf-8", "surrogateescape")[-MAX_OUTPUT:]
    return _frame([VERSION, "ended", str(ended.status), output.decode("utf-8", "surrogateescape")])


def decode_ended(payload: bytes) -> Ended:
    """Raises Malformed."""
    fields = _fields(payload)
    if len(fields) != 4 or fields[:2] != [VERSION, "ended"]:
        raise Malformed("not a report of this version")
    return Ended(status=_number(fields[2], 255), output=fields[3])


def payload_in(received: bytes) -> tuple[bytes, bytes] | None:
    """(payload, what follows) of the first frame; None while it is not complete.

    Raises Malformed as soon as no continuation can make it a frame.
    """
    head, colon, _rest = received[: _LENGTH_DIGITS + 1].partition(b":")
    if (head and not (head.isdigit() and head.isascii())) or (head[:1] == b"0" and head != b"0"):
        raise Malformed("not a length")
    if not colon:
        if len(head) > _LENGTH_DIGITS:
            raise Malformed("not a length")
        return None
    if not head or int(head) > MAX_FRAME:
        raise Malformed("too large, or no length")
    start, end = len(head) + 1, len(head) + 1 + int(head)
    if len(received) <= end:
        return None
    if received[end : end + 1] != b",":
        raise Malformed("the frame does not end where it says")
    return received[start:end], received[end + 1 :]


def _frame(fields: list[str]) -> bytes:
    if any("\0" in field for field in fields):
        raise Malformed("a field holds NUL")
    payload = b"".join(_encode(field) + b"\0" for field in fields)
    if len(payload) > MAX_FRAME:
        raise Malformed("too large")
    return b"%d:%s," % (len(payload), payload)


def _encode(field: str) -> bytes:
    try:
        return field.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise Malformed("a field cannot be encoded") from error


def _fields(payload: bytes) -> list[str]:
    return _text(payload).split("\0")


def _text(payload: bytes) -> str:
    """The fields of a payload with NUL between them. Raises Malformed."""
    if not payload.endswith(b"\0"):
        raise Malformed("the last field does not end")
    if payload.count(b"\0") > MAX_ARGUMENTS + MAX_VARIABLES + 8:
        raise Malformed("too many fields")
    # NUL is a character of its own in UTF-8, whatever bytes stand before it.
    return payload[:-1].decode("utf-8", "surrogateescape")


def _number(text: str, limit: int) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 7 or int(text) > limit:
        raise Malformed("not a number within its limit")
    return int(text)
