"""What writing or deleting a path loses, judged by where it lies and what stands there."""

import re

from sekisho.core.action import Effect
from shim.bash.state import State
from shim.context import Context, Kind
from shim.grammar import table
from shim.text import HOLE

TEMPORARY = ("/tmp/", "/var/tmp/", "/dev/shm/")
SYSTEM = (
    "/etc/",
    "/usr/",
    "/bin/",
    "/sbin/",
    "/lib/",
    "/boot/",
    "/dev/",
    "/sys/",
    "/proc/",
    "/var/",
    "/opt/",
)
# Below these a project of somebody's own may lie; what a package put there is in no working tree.
_FOR_PROJECTS = ("/opt/", "/var/", "/usr/src/", "/usr/local/src/", "/dev/shm/")
NOWHERE = re.compile(r"/dev/(null|stdout|stderr|tty|zero|full|fd/.*|stdin|pts/\d+)|/proc/self/fd/\d+|-")
NETWORK = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")
REGENERABLE = table("paths")["regenerable"]
REGENERABLE_NAMES = re.compile(
    r".*\.(pyc|pyo|o|obj|a|class|tmp|temp|swp|bak~|egg-info|dist-info|tsbuildinfo|gcda|gcno|elc)|.*~|"
    r"\.DS_Store|\.coverage(\..*)?|\.eslintcache|coverage\.xml"
)


# What compilers, bundlers and test runners write: programs have no ending, or one of these.
_PRODUCTS = re.compile(
    r"[^.]+|.*\.(?:exe|so|dylib|dll|wasm|out|elf|hex|bin|d|js|mjs|cjs|css|map|prof|pprof|lcov|sarif|gcov)|"
    r"(?:.*[-_.])?(?:junit|cover|coverage|report|reports|results?|lint|eslint|stats|profile|bench)(?:[-_.].*)?\.\w+"
)


_LOCK = re.compile(r"[\w./-]+\.lock")  # no pattern


def is_product(path: str) -> bool:
    """Whether a file by its name is a tool's own, so that the tool may write it again."""
    return (
        not path.startswith("/")
        and ".." not in path
        and _PRODUCTS.fullmatch(path.rpartition("/")[2]) is not None
    )


def deleted(path: str, state: State, context: Context, *, recursive: bool = True) -> tuple[Effect, str]:
    """The effect of deleting `path` (a pattern counts as all it can match), and why."""
    if HOLE in path:
        return Effect.UNKNOWN, "what would be deleted cannot be told"
    if not path:
        return Effect.LOCAL, "nothing is named"
    absolute = state.resolve(path)
    if HOLE in absolute:
        return Effect.UNKNOWN, "the directory cannot be told"
    if temporary(path, state, context) and not (context.cwd + "/").startswith(absolute + "/"):
        return Effect.LOCAL, "a temporary path"
    if made_here(absolute, state):
        return Effect.LOCAL, "made by this very command"
    if regenerable(path, absolute, context):
        return Effect.LOCAL, "can be made again"
    if _LOCK.fullmatch(absolute.rpartition("/.git/")[2]) and "/.git/" in absolute:
        return Effect.LOCAL, "a lock that a broken git has left"
    return Effect.DESTRUCTIVE, "deletes files that cannot be made again"


def made_here(absolute: str, state: State) -> bool:
    """True for what did not exist before this command."""
    return any(absolute == path or absolute.startswith(path + "/") for path in state.made)


def temporary(path: str, state: State, context: Context) -> bool:
    """True below a temporary folder; the folder itself does not count.

    A working tree may itself lie in a temporary folder: then it and its neighbours are not temporary.
    """
    absolute = state.resolve(path)
    if not any(absolute.startswith(folder) and len(absolute) > len(folder) for folder in TEMPORARY):
        return False
    root = context.files.worktree(context.cwd) or context.cwd
    if not any(root.startswith(folder) for folder in TEMPORARY):
        return True
    parent = root.rpartition("/")[0]
    home = (
        parent
        if any(f"{parent}/".startswith(folder) and f"{parent}/" != folder for folder in TEMPORARY)
        else root
    )
    return not (absolute + "/").startswith(home + "/") and not path.startswith("..")


def regenerable(path: str, absolute: str, context: Context) -> bool:
    """True if a whole part of the path, below the working tree, names what tools make again."""
    parts = path.split("/")
    if ".." in parts or "{" in path:
        return False
    root = context.files.worktree(context.cwd) or context.cwd
    if not absolute.startswith(root + "/"):
        return False
    inside = [part for part in absolute[len(root) + 1 :].split("/") if part != "**"]
    for position, part in enumerate(inside):
        if part in REGENERABLE:
            return not context.files.tracked_below("/".join([root, *inside[: position + 1]]))
    name = inside[-1]
    return bool(REGENERABLE_NAMES.fullmatch(name)) and name.strip("*?[]") != ""


def written(
    path: str, state: State, context: Context, *, append: bool = False, edit: bool = False
) -> tuple[Effect, str]:
    """The effect of writing `path`, and why. `append` keeps what is there."""
    if HOLE in path and not path.startswith("/tmp/tmp.XXX"):
        return Effect.UNKNOWN, "where it would write cannot be told"
    if NOWHERE.fullmatch(path):
        return Effect.READ, "nothing is kept"
    absolute = state.resolve(path)
    if HOLE in absolute:
        return Effect.UNKNOWN, "the directory cannot be told"
    if temporary(path, state, context) or made_here(absolute, state):
        return Effect.LOCAL, "a temporary path"
    if absolute.startswith(SYSTEM) and not _of_project(absolute, context):
        return Effect.DESTRUCTIVE, "writes to the system's own files"
    if append:
        return Effect.LOCAL, "adds to a file"
    if regenerable(path, absolute, context):
        return Effect.LOCAL, "can be made again"
    return _over(path, absolute, context)


def _of_project(absolute: str, context: Context) -> bool:
    """True below a working tree that lies in a folder of the system, such as /var/www or /opt."""
    root = context.files.worktree(context.cwd)
    return root is not None and root.startswith(_FOR_PROJECTS) and absolute.startswith(root + "/")


def _over(path: str, absolute: str, context: Context) -> tuple[Effect, str]:
    root = context.files.worktree(context.cwd) or context.cwd
    visible = absolute.startswith(root + "/") or path.startswith("../")
    kind = context.files.kind(absolute) if visible else Kind.OTHER
    if kind is Kind.ABSENT:
        return Effect.LOCAL, "a new file"
    if kind is Kind.FOLDER:
        return Effect.LOCAL, "a name inside a folder"
    if kind is Kind.FILE and context.files.committed(absolute):
        return Effect.LOCAL, "the file's content is in git"
    return Effect.DESTRUCTIVE, "overwrites what git does not have"


def note_written(path: str, state: State, context: Context) -> None:
    """Remembers that the command makes `path`, so that it may delete it again, and not what was there."""
    state.forget(path)
    absolute = state.resolve(path)
    root = context.files.worktree(context.cwd) or context.cwd
    inside = HOLE not in absolute and absolute.startswith(root + "/")
    while inside and context.files.kind(absolute) is Kind.ABSENT:
        state.made |= {absolute}
        absolute = absolute.rpartition("/")[0]
        inside = absolute.startswith(root + "/")


def expanded(path: str, state: State, context: Context) -> tuple[str, ...]:
    """The paths a pattern stands for; the pattern itself where that cannot be told."""
    if HOLE in path or not re.search(r"[*?\[]", path):
        return (path,)
    return context.files.matches(state.resolve(path))
