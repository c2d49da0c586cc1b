"""Why a command could not be enclosed. There is no way from here to running it unenclosed."""

import errno


class EnclosureError(Exception):
    """The sandbox could not be made, or could not prove that the command ran inside it.

    `code` is kebab-case, `what` one sentence on what happened, `instead` what to change.
    """

    def __init__(self, code: str, what: str, instead: str) -> None:
        super().__init__(f"{what} {instead}".strip())
        self.code = code
        self.what = what
        self.instead = instead


USER_NAMESPACES = (
    "Allow unprivileged user namespaces: sysctl user.max_user_namespaces (above 0), "
    "kernel.unprivileged_userns_clone=1 where it exists; in a container, a seccomp profile that permits "
    "unshare. Or use --backend docker."
)
APPARMOR = (
    "AppArmor restricts unprivileged user namespaces here: add a profile that grants `userns` to bwrap and "
    "to this python, or set sysctl kernel.apparmor_restrict_unprivileged_userns=0. Or use --backend docker."
)
CHROOT = (
    "In a chroot Linux makes no user namespaces: enter that folder by systemd-nspawn, bwrap or pivot_root "
    "instead, or work outside of it."
)
INSTALL = "Install bubblewrap 0.8 or newer (package `bubblewrap`), or use --backend docker."

# bwrap's own messages, oldest first wins: (part of the message, code, what to change)
_BWRAP_SAYS = (
    ("Unknown option", "bwrap-too-old", INSTALL),
    ("uid map", "userns-restricted", APPARMOR),
    ("setgroups", "userns-restricted", APPARMOR),
    ("No permissions to creat", "userns-disabled", USER_NAMESPACES),
    ("namespace failed", "userns-disabled", USER_NAMESPACES),
    ("max_user_namespaces", "userns-disabled", USER_NAMESPACES),
    ("Can't find source path", "mount-missing", "Remove that path from `sandbox.mount`, or create it."),
    ("Can't chdir", "workdir-missing", "The working directory must be inside one of the mounted folders."),
    ("Can't mount proc", "proc-refused", "This container masks /proc: use --backend docker from its host."),
    ("seccomp", "seccomp-refused", "The kernel needs CONFIG_SECCOMP_FILTER."),
)


def from_bwrap(message: str, status: int) -> EnclosureError:
    """What bwrap's last words mean when the command never proved that it was entered."""
    words = " ".join(message.split())[:500]
    what = f"bwrap ended with status {status} before the command was entered: {words or '(no message)'}."
    for part, code, instead in _BWRAP_SAYS:
        if part in message:
            return EnclosureError(code, what, instead)
    return EnclosureError("bwrap-failed", what, "`sekisho doctor` shows which step fails on this machine.")


def from_step(step: str, number: int, *, apparmor: bool, chroot: bool = False) -> EnclosureError:
    """Why a preparing step failed. `number` is its errno, `apparmor`: the kernel restricts by profile,
    `chroot`: the root folder is one."""
    what = f"Preparing the network namespace failed at {step}: {errno.errorcode.get(number, number)}."
    if step == "unshare" and number == errno.EPERM and chroot:
        return EnclosureError("in-chroot", what, CHROOT)
    if step == "unshare":
        return EnclosureError("userns-disabled", what, USER_NAMESPACES)
    if step == "execve":
        return EnclosureError("bwrap-missing", f"bwrap could not be executed (errno {number}).", INSTALL)
    if apparmor and number in (errno.EPERM, errno.EACCES):
        return EnclosureError("userns-restricted", what, APPARMOR)
    if step == "listen":
        return EnclosureError(
            "port-taken", what, "Two listeners ask for the same port: check `network.local`."
        )
    return EnclosureError("netns-failed", what, "`sekisho doctor` shows which step fails on this machine.")
