"""What can go wrong with what is kept. Each error's text is fit to be shown to a person."""

from enum import StrEnum


class Trouble(StrEnum):
    """Why the store cannot be relied on."""

    CORRUPT = "store-corrupt"
    READ_ONLY = "store-read-only"
    FULL = "store-full"
    LOCKED = "store-locked"
    NEWER = "store-newer"
    UNREACHABLE = "store-unreachable"
    UNSAFE = "store-unsafe"  # owner, mode or kind of file is not what it must be
    TAMPERED = "journal-tampered"


_AFRESH = "bring it back from a backup, or move the state folder away to begin afresh"
_INSTEAD = {
    Trouble.CORRUPT: _AFRESH,
    Trouble.READ_ONLY: "make it writable for yourself again",
    Trouble.FULL: "make room on that disk",
    Trouble.LOCKED: "`fuser` with that file names the process; try again when it has ended",
    Trouble.NEWER: "use the newer version",
    Trouble.UNREACHABLE: "make it readable for yourself again; `sekisho doctor` looks at the rest",
    Trouble.UNSAFE: "make it a file or folder of your own that nobody else may write to",
    Trouble.TAMPERED: f"`sekisho audit verify` names changed records; {_AFRESH}",
}


class StoreBroken(Exception):
    """The store cannot be relied on: the outside stays closed, with `reason` as the explanation.

    `instead` says what to do about it.
    """

    def __init__(self, reason: str, trouble: Trouble = Trouble.UNREACHABLE, instead: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.trouble = trouble
        self.instead = instead or _INSTEAD[trouble]


class LedgerError(Exception):
    """A hold cannot do what was asked of it. `hold_id` names it."""

    def __init__(self, hold_id: str, message: str) -> None:
        super().__init__(message)
        self.hold_id = hold_id


class NoSuchHold(LedgerError):
    """No hold has this id or prefix."""


class AmbiguousHold(LedgerError):
    """A prefix fits several holds; `candidates` lists their ids."""

    def __init__(self, hold_id: str, candidates: tuple[str, ...]) -> None:
        super().__init__(hold_id, f"{hold_id} fits several holds: {', '.join(candidates)}")
        self.candidates = candidates


class NotPending(LedgerError):
    """The hold has been decided already, or is no longer open to a decision."""


class NotApproved(LedgerError):
    """Nobody approved it."""


class Expired(LedgerError):
    """Its time is over."""


class Void(LedgerError):
    """What was approved is not what would leave."""


class AlreadyUsed(LedgerError):
    """The approval has been used; one approval is one execution."""


class TargetClosed(LedgerError):
    """An earlier act on the same target ended unknown; a person has to settle that one first."""
