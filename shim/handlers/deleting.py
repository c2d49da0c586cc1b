"""Tools that delete or empty files and devices."""

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.options import parse, spec
from shim.text import HOLE

_RM = spec(
    flags="--force --recursive --interactive --one-file-system --dir --verbose --help --version",
    abbreviate=True,
)


def remove(call: Call) -> str | None:
    parsed = parse(call.arguments, _RM)
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return ""
    if not parsed.words:
        call.does(Effect.LOCAL, call.name, "names nothing")
    call.deletes(parsed.words, recursive=parsed.has("-r", "-R", "--recursive"))
    return ""


def remove_folder(call: Call) -> str | None:
    """rmdir deletes empty folders only."""
    parsed = parse(call.arguments, spec())
    unknown = any(HOLE in word for word in parsed.words)
    call.does(
        Effect.LOCAL, " ".join(parsed.words), "deletes empty folders" + (" of any name" if unknown else "")
    )
    return ""


def shred(call: Call) -> str | None:
    parsed = parse(call.arguments, spec("-n --iterations -s --size --random-source"))
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    call.deletes(parsed.words)
    return None


def truncate(call: Call) -> str | None:
    parsed = parse(
        call.arguments, spec("-s --size -r --reference", flags="--help --version", abbreviate=True)
    )
    if parsed.has("--help", "--version"):
        call.does(Effect.READ, call.name, "prints help")
        return None
    for path in parsed.words:
        call.writes(path)
    return None


def disk_dump(call: Call) -> str | None:
    """dd: `of=` is written."""
    if any(word in ("--help", "--version") for word in call.arguments):
        call.does(Effect.READ, "dd", "prints help")
        return None
    call.does(Effect.READ, "dd", "copies")
    for word in call.arguments:
        if word.startswith("of="):
            call.writes(word[3:])
        elif word.startswith("\0"):
            call.unknown("dd", "the output cannot be told")
    return None


def device(call: Call) -> str | None:
    """Formatting and partitioning."""
    if any(word in ("--help", "--version", "-V", "-l", "--list", "-n") for word in call.arguments):
        call.does(Effect.READ, call.name, "lists")
        return None
    targets = [word for word in call.arguments if not word.startswith("-")]
    target = targets[-1] if targets else call.name
    call.does(Effect.DESTRUCTIVE, target, "overwrites a device", code="overwrites-device")
    return None


HANDLERS: dict[str, Handler] = {
    "rm": remove,
    "unlink": remove,
    "srm": remove,
    "trash": remove,
    "trash-put": remove,
    "rimraf": remove,
    "del-cli": remove,
    "rmdir": remove_folder,
    "shred": shred,
    "wipe": shred,
    "truncate": truncate,
    "dd": disk_dump,
    **dict.fromkeys(
        (
            *(
                f"mkfs.{kind}"
                for kind in ("ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "ntfs", "f2fs")
            ),
            "mkfs",
            "wipefs",
            "fdisk",
            "sfdisk",
            "parted",
            "mkswap",
            "blkdiscard",
            "sgdisk",
            "gdisk",
            "badblocks",
            "hdparm",
            "cryptsetup",
            "pvremove",
            "vgremove",
            "lvremove",
            "mdadm",
        ),
        device,
    ),
}
