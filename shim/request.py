#!/usr/bin/python3 -ISE
"""sekisho-request: asks ahead for something that would be stopped, with evidence from files.

    sekisho-request PURPOSE [EVIDENCE ...]

PURPOSE is a file that says what is needed and why; EVIDENCE are files that show it: a letter, a diff, a
log. All are copied into $SEKISHO_OUTBOX/requests and stand in the handoff, where a person reads them.
Texts travel as files only: nothing in them is ever interpreted.
"""

import os
import shutil
import sys

LIMIT = 1 << 20  # bytes of one file
MOST = 50


def main(argv):
    # type: (list[str]) -> int
    if not argv or argv[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if argv else 2
    outbox = os.environ.get("SEKISHO_OUTBOX", "")
    if not os.path.isdir(outbox):
        return fail("there is no outbox here", "it works inside `sekisho run` only")
    for path in argv:
        if not os.path.isfile(path) or os.path.getsize(path) > LIMIT:
            return fail(f"{path!r} is no file of at most {LIMIT} bytes", "give what is needed as files")
    folder = new_folder(os.path.join(outbox, "requests"))
    if folder is None:
        return fail(f"there are {MOST} requests already", "go on with other work; a person reads them")
    shutil.copyfile(argv[0], os.path.join(folder, "purpose.md"))
    for number, path in enumerate(argv[1:], 1):
        shutil.copyfile(path, os.path.join(folder, f"{number:02d}-{os.path.basename(path)[:80]}"))
    print(f"noted as {os.path.basename(folder)}; go on with other work, a person reads it in the handoff")
    return 0


def new_folder(requests):
    # type: (str) -> str | None
    os.makedirs(requests, exist_ok=True)
    for number in range(1, MOST + 1):
        folder = os.path.join(requests, f"request-{number:02d}")
        try:
            os.mkdir(folder)
            return folder
        except FileExistsError:
            continue
    return None


def fail(what, instead):
    # type: (str, str) -> int
    sys.stderr.write(f"sekisho-request: {what}\n  next: {instead}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
