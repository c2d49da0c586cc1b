"""The environment inside: what may come along from the person's, and what makes tools behave. Pure.

What each client reads is in docs/clients.md; the names below are those that alone made it work.
"""

from collections.abc import Mapping

import msgspec

from sandbox.spec import Mount, MountKind

ALLOWED = frozenset({"TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "NO_COLOR", "CLICOLOR", "FORCE_COLOR"})
ALLOWED_PREFIXES = ("LC_",)

PROXY_URL = "http://127.0.0.1:3128"
# No brackets, ranges or wildcards: httpx crashes on them, others ignore them.
NO_PROXY = "localhost,127.0.0.1,::1"

PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
BUNDLE_NAMES = (
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
    "npm_config_cafile",
    "YARN_HTTPS_CA_FILE_PATH",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
    "BUNDLE_SSL_CA_CERT",
)

# Without a person a question would hang for ever; without a retry a refusal is seen at once.
NO_PROMPTS = {
    "GIT_TERMINAL_PROMPT": "0",
    "npm_config_fetch_retries": "0",
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "PIP_RETRIES": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
}
EDITORS = ("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR")
PAGERS = {"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat"}
NO_EDITOR_PATH = "/run/sekisho/no-editor"
NO_ASKPASS_PATH = "/run/sekisho/no-askpass"
GITCONFIG_PATH = "/etc/gitconfig"

_NO_EDITOR = b"""#!/bin/sh
echo "sekisho: there is no terminal, so no editor can be opened for: $*" >&2
echo "sekisho: give the text as an argument or a file: git commit -m or -F, git merge --no-edit," >&2
echo "sekisho: git rebase with GIT_SEQUENCE_EDITOR set to a program that edits the list." >&2
exit 1
"""
_NO_ASKPASS = b"""#!/bin/sh
echo "sekisho: there is nobody to ask for a login; the gatekeeper outside adds credentials." >&2
exit 1
"""


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """Paths inside of the files that make the session's authority trusted; "" where there is none.

    `bundle` holds public roots and the authority (PEM); `java` is a PKCS12 or JKS store; `wgetrc` a
    file with `ca_certificate`. `java_password` is no secret: Java's own is "changeit".
    """

    bundle: str
    java: str = ""
    java_password: str = "changeit"
    wgetrc: str = ""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Who commits: all that is carried over from the person's git configuration."""

    name: str = ""
    email: str = ""


def environment(
    outer: Mapping[str, str],
    *,
    home: str,
    path: str,
    terminal: bool,
    user: str = "agent",
    trust: Trust | None = None,
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """All variables inside. `outer` is the person's environment, of which little passes; `trust` is None
    for a session without a network. `extra` (session, brief, toolchains) is laid on top."""
    inside = {name: value for name, value in outer.items() if _allowed(name)}
    inside.setdefault("LANG", "C.UTF-8")
    inside |= {"HOME": home, "PATH": path, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash"}
    inside |= {"TMPDIR": "/tmp", "XDG_RUNTIME_DIR": "/run/user"} | NO_PROMPTS
    inside |= {"GIT_ASKPASS": NO_ASKPASS_PATH, "SSH_ASKPASS": NO_ASKPASS_PATH}
    if terminal:
        inside.setdefault("TERM", "xterm-256color")
    else:
        inside |= dict.fromkeys(EDITORS, NO_EDITOR_PATH) | PAGERS | {"TERM": "dumb", "CI": "true"}
    if trust is not None:
        inside |= _network(trust)
    return inside | dict(extra or {})


def _allowed(name: str) -> bool:
    return name in ALLOWED or name.startswith(ALLOWED_PREFIXES)


def _network(trust: Trust) -> dict[str, str]:
    variables = {"NODE_USE_ENV_PROXY": "1", "YARN_HTTP_PROXY": PROXY_URL, "YARN_HTTPS_PROXY": PROXY_URL}
    for name in PROXY_NAMES:
        variables |= {name: PROXY_URL, name.lower(): PROXY_URL}
    variables |= {"NO_PROXY": NO_PROXY, "no_proxy": NO_PROXY}
    variables |= dict.fromkeys(BUNDLE_NAMES, trust.bundle)
    variables["JAVA_TOOL_OPTIONS"] = " ".join(_java(trust))
    if trust.wgetrc:
        variables["WGETRC"] = trust.wgetrc
    return variables


def _java(trust: Trust) -> list[str]:
    host, _, port = PROXY_URL.removeprefix("http://").partition(":")
    options = [f"-D{scheme}.proxyHost={host}" for scheme in ("http", "https")]
    options += [f"-D{scheme}.proxyPort={port}" for scheme in ("http", "https")]
    # http.nonProxyHosts serves https too.
    options.append("-Dhttp.nonProxyHosts=localhost|127.*|[::1]")
    if trust.java:
        options.append(f"-Djavax.net.ssl.trustStore={trust.java}")
        options.append(f"-Djavax.net.ssl.trustStorePassword={trust.java_password}")
    return options


def helper_mounts(
    person: Person, workdir: str, instead_of: tuple[tuple[str, str], ...] = ()
) -> tuple[Mount, ...]:
    """The files that the variables above name, and a system gitconfig of our own (see `gitconfig`)."""
    config = gitconfig(person, workdir, instead_of)
    return (
        Mount(kind=MountKind.DATA, target=NO_EDITOR_PATH, content=_NO_EDITOR, mode=0o755),
        Mount(kind=MountKind.DATA, target=NO_ASKPASS_PATH, content=_NO_ASKPASS, mode=0o755),
        Mount(kind=MountKind.DATA, target=GITCONFIG_PATH, content=config, mode=0o644),
        Mount(kind=MountKind.TMPFS, target="/run/user", size=16 << 20, mode=0o700),
    )


def gitconfig(person: Person, workdir: str, instead_of: tuple[tuple[str, str], ...] = ()) -> bytes:
    """Who commits, and that the working directory is the agent's own whoever owns it outside.

    `instead_of` has pairs of URL beginnings: the one to use, and the one it replaces (git over ssh).
    """
    lines = []
    if person.name or person.email:
        lines += ["[user]"]
        lines += [f"\tname = {_quoted(person.name)}"] if person.name else []
        lines += [f"\temail = {_quoted(person.email)}"] if person.email else []
    lines += ["[safe]", f"\tdirectory = {_quoted(workdir)}"]
    for used, written in instead_of:
        lines += [f"[url {_quoted(used)}]", f"\tinsteadOf = {_quoted(written)}"]
    return ("\n".join(lines) + "\n").encode()


def _quoted(value: str) -> str:
    """A value as git-config(1) reads it: quotes and backslashes escaped, one line."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
