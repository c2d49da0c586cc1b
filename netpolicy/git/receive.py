"""What a push asks for: the request of git-receive-pack (gitprotocol-pack(5)). Pure.

update-request = *shallow ( command-list | push-cert ) [ push-options ] [ packfile ]
"""

import re

import msgspec

from netpolicy.git.pktline import FLUSH_PKT, PktError, Special, read

MAX_COMMANDS = 100_000
_COMMAND = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([^\x00\n ]+)")
_SHALLOW = re.compile(rb"shallow ([0-9a-f]{40}|[0-9a-f]{64})")
_SIGNATURE = b"-----BEGIN "


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One ref to change. `old` and `new` are object ids in hexadecimal, all zeros for none."""

    old: str
    new: str
    ref: str

    @property
    def op(self) -> str:
        """`create`, `update` or `delete`."""
        if not self.new.strip("0"):
            return "delete"
        return "update" if self.old.strip("0") else "create"


class Push(msgspec.Struct, frozen=True, kw_only=True):
    """A receive-pack request up to its pack.

    `capabilities` is what the client chose, as it stood on the wire. `pack_offset` is where the pack
    begins in the body, None if no pack follows. A `probe` is the lone flush packet that git sends
    before a big push, to learn whether it would be let in: it asks for nothing.
    """

    commands: tuple[Command, ...] = ()
    capabilities: str = ""
    push_options: tuple[str, ...] = ()
    shallow: tuple[str, ...] = ()
    signed: bool = False
    pack_offset: int | None = None

    @property
    def probe(self) -> bool:
        return not self.commands

    @property
    def capability_names(self) -> frozenset[str]:
        return frozenset(word.partition("=")[0] for word in self.capabilities.split())


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _command(raw: bytes) -> Command:
    match = _COMMAND.fullmatch(raw.removesuffix(b"\n"))
    if match is None or len(match[1]) != len(match[2]):
        raise PktError("not a ref command")
    return Command(old=match[1].decode(), new=match[2].decode(), ref=_text(match[3]))


def _options(body: bytes, offset: int) -> tuple[list[str], int]:
    options: list[str] = []
    while True:
        payload, offset = read(body, offset)
        if isinstance(payload, Special):
            if payload is not FLUSH_PKT:
                raise PktError("unexpected packet among the push options")
            return options, offset
        options.append(_text(payload.removesuffix(b"\n")))


class _Reader:
    """Reads the part before the push options; `position` is where it stands in the body."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.position = 0
        self.commands: list[Command] = []
        self.shallow: list[str] = []
        self.capabilities: bytes | None = None
        self.certificate_options: list[str] = []
        self.signed = False

    def packet(self) -> bytes:
        payload, self.position = read(self.body, self.position)
        return payload

    def run(self) -> None:
        while True:
            payload = self.packet()
            if isinstance(payload, Special):
                if payload is not FLUSH_PKT:
                    raise PktError("unexpected packet among the commands")
                return
            if shallow := _SHALLOW.fullmatch(payload.removesuffix(b"\n")):
                self.shallow.append(shallow[1].decode())
                continue
            self._line(payload)

    def _line(self, payload: bytes) -> None:
        head, nul, capabilities = payload.partition(b"\x00")
        if nul:
            if self.capabilities is not None:
                raise PktError("capabilities given twice")
            self.capabilities = capabilities
        if head.removesuffix(b"\n") == b"push-cert":
            if self.commands or self.signed:
                raise PktError("a push certificate beside other commands")
            self._certificate()
        else:
            if self.signed:
                raise PktError("a command beside a push certificate")
            self._add(head)

    def _add(self, raw: bytes) -> None:
        if len(self.commands) >= MAX_COMMANDS:
            raise PktError("too many commands")
        self.commands.append(_command(raw))

    def _certificate(self) -> None:
        """Header lines to an empty line, commands, a signature, `push-cert-end`."""
        self.signed = True
        while (payload := self.packet()) != b"\n":
            if isinstance(payload, Special):
                raise PktError("push certificate is cut off")
            name, _, value = payload.removesuffix(b"\n").partition(b" ")
            if name == b"push-option":
                self.certificate_options.append(_text(value))
        signature = False
        while (payload := self.packet()).removesuffix(b"\n") != b"push-cert-end":
            if isinstance(payload, Special):
                raise PktError("push certificate is cut off")
            signature = signature or payload.startswith(_SIGNATURE)
            if not signature:
                self._add(payload)


def parse(body: bytes) -> Push:
    """The push in `body`, which may end anywhere after its commands and push options.

    Raises PktError for anything that is not exactly a receive-pack request.
    """
    reader = _Reader(body)
    reader.run()
    capabilities = _text(reader.capabilities or b"").strip()
    push = Push(commands=tuple(reader.commands), capabilities=capabilities, signed=reader.signed)
    position, options = reader.position, list[str]()
    # A certificate holds the options itself; some clients do not repeat them after it.
    repeated = not (push.signed and body[position : position + 4] == b"PACK")
    if "push-options" in push.capability_names and repeated:
        options, position = _options(body, position)
    if not push.commands and position < len(body):
        raise PktError("a pack without commands")
    return msgspec.structs.replace(
        push,
        push_options=tuple(options or reader.certificate_options),
        shallow=tuple(reader.shallow),
        pack_offset=_pack_offset(body, position, push),
    )


def _pack_offset(body: bytes, position: int, push: Push) -> int | None:
    if position < len(body):
        if not b"PACK".startswith(body[position : position + 4]):
            raise PktError("no pack where the pack should begin")
        return position
    return position if any(command.op != "delete" for command in push.commands) else None
