"""Other machines by other means than HTTP: ssh, sockets, mail, file transfer."""

import re

from sekisho.core.action import Effect
from shim.address import is_loopback_host
from shim.call import Call, Handler
from shim.options import parse, spec
from shim.text import HOLE

_SSH = spec("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w", stop=True)


def ssh(call: Call) -> str | None:
    """A remote shell is external whatever it runs; some options run commands here."""
    parsed = parse(call.arguments, _SSH)
    if (parsed.has("-V", "-Q", "-G") and not parsed.has("-W")) or not call.arguments:
        call.does(Effect.READ, call.name, "prints settings")
    elif parsed.last("-O") in ("check",):
        call.does(Effect.READ, call.name, "asks a running connection")
    else:
        call.does(Effect.EXTERNAL, (parsed.words or [HOLE])[0], "a shell on another machine", code="no-wire")
    for option in parsed.all("-o"):
        if match := re.match(r"(?i)\s*(proxycommand|localcommand|knownhostscommand)\s*[= ]\s*(.*)", option):
            call.shell(match[2], name="ssh")
    return HOLE


_SSH_COPY = spec("-B -b -c -D -F -i -J -l -o -P -R -S -s -X")


def file_transfer(call: Call) -> str | None:
    """sftp and ftp: the commands on the input decide, if they are known."""
    if call.arguments[:1] in (["--version"], ["-V"], ["--help"], ["-h"]):
        call.does(Effect.READ, call.name, "prints help")
        return None
    words = parse(call.arguments, _SSH_COPY).words
    if call.stdin is None and len(words) == 2 and ":" in words[0] and ":" not in words[1]:
        call.does(Effect.LOCAL, words[0], "downloads files")
        return HOLE
    text = call.stdin or ""
    lines = [line.strip().lstrip("-@") for line in text.splitlines() if line.strip()]
    reads = (
        r"(get|mget|reget|ls|dir|pwd|lpwd|cd|lcd|lls|bye|quit|exit|help|version|df|progress|binary|ascii|"
        r"user|open)\b"
    )
    if lines and HOLE not in text and all(re.match(reads, line) for line in lines):
        call.does(Effect.LOCAL, call.name, "downloads files")
    else:
        call.does(Effect.EXTERNAL, call.name, "changes files on another machine", code="remote-write")
    return HOLE


_NC = spec("-w -p -s -i -q -e -c -I -O -T -X -x -P -g -G --exec --sh-exec --proxy --source")


def socket_tool(call: Call) -> str | None:
    """nc: a listener or this machine is local, anything else can carry any bytes out."""
    parsed = parse(call.arguments, _NC)
    for text in parsed.all("-e", "-c", "--sh-exec", "--exec"):
        call.shell(text, stdin=HOLE, name=call.name)
    if parsed.has("-h", "--help", "--version") and not parsed.words:
        call.does(Effect.READ, call.name, "prints help")
    elif parsed.has("-l", "--listen"):
        call.does(Effect.LOCAL, call.name, "listens")
    elif parsed.has("-z"):
        call.does(Effect.READ, " ".join(parsed.words), "tries whether a port is open")
    elif parsed.words and is_loopback_host(parsed.words[0]) and not parsed.has("-x", "--proxy"):
        call.does(Effect.LOCAL, parsed.words[0], "talks to this machine")
    else:
        target = " ".join(parsed.words) or call.name
        call.does(Effect.EXTERNAL, target, "sends bytes to another machine", code="no-wire")
    return HOLE


_SOCAT_END = re.compile(
    r"(?i)(tcp|tcp4|tcp6|udp|udp4|ssl|openssl|socks\w*|proxy|sctp)(?:-connect)?\d?:([^,]+)"
)


_LOCAL_ENDS = ("-", "stdio", "stdin", "stdout", "pty", "fd", "open", "file", "create", "pipe")


def socat(call: Call) -> str | None:
    for word in parse(call.arguments, spec("-b -t -T -lf -L -W")).words:
        _socat_end(call, word)
    return HOLE


def _socat_end(call: Call, word: str) -> None:
    kind = word.split(":", 1)[0].lower()
    if kind in ("exec", "system", "shell"):
        call.shell(word.split(":", 1)[1].split(",")[0], stdin=HOLE, name="socat")
    elif match := _SOCAT_END.match(word):
        host = match[2].rsplit(":", 1)[0]
        local = is_loopback_host(host)
        effect = Effect.LOCAL if local else Effect.EXTERNAL
        reason = "talks to this machine" if local else "sends bytes to another machine"
        call.does(effect, match[2], reason, code="" if local else "no-wire")
    elif "listen" in kind or kind in _LOCAL_ENDS:
        call.does(Effect.LOCAL, word, "a local end")
        if kind in ("open", "create"):
            call.writes(word.split(":", 1)[1].split(",")[0])
    elif kind.startswith(("unix", "abstract", "gopen")) or word.startswith("/"):
        docker = "docker.sock" in word
        effect = Effect.EXTERNAL if docker else Effect.LOCAL
        call.does(effect, word, "talks to a local socket")
    else:
        call.unknown(word, "where it connects cannot be told")


def tls_client(call: Call) -> str | None:
    """openssl: only `s_client` and `s_time` connect; files are written with `-out`."""
    verb = call.arguments[0] if call.arguments else ""
    parsed = parse(
        call.arguments[1:], spec("-connect -host -out -keyout -in -servername -proxy -starttls", words=True)
    )
    if verb in ("s_client", "s_time"):
        place = parsed.last("-connect", "-host") or (parsed.words or [HOLE])[0]
        silent = call.stdin == ""
        local = is_loopback_host(place)
        effect = Effect.LOCAL if local else (Effect.READ if silent else Effect.EXTERNAL)
        call.does(effect, place, "a TLS connection that carries its input", code="" if local else "no-wire")
        return HOLE
    call.does(Effect.READ, f"openssl {verb}", "computes")
    for path in parsed.all("-out", "-keyout"):
        call.writes(path)
    return HOLE


def mail(call: Call) -> str | None:
    parsed = parse(call.arguments, spec("-s -a -c -b -r -q -A -f -F -t -u -S -h -p"))
    lists = parsed.has("-H", "-e", "-V", "--version", "--help") or (
        call.name == "sendmail" and parsed.has("-b")
    )
    if lists and not parsed.words:
        call.does(Effect.READ, call.name, "lists mail")
    else:
        call.does(Effect.EXTERNAL, " ".join(parsed.words) or call.name, "sends mail", code="sends-message")
    return HOLE


def key_tool(call: Call) -> str | None:
    """ssh-keygen writes the key file; other uses print."""
    parsed = parse(call.arguments, spec("-f -t -b -C -N -P -F -R -O -m -a -s -I -n -V -z -Y"))
    if parsed.has("-l", "-y", "-F", "-B", "-e", "-L", "-H") and not parsed.has("-R"):
        call.does(Effect.READ, call.name, "prints keys")
        return None
    path = parsed.last("-f")
    if path is None:
        call.does(Effect.DESTRUCTIVE, "~/.ssh", "may overwrite a key", code="overwrites-file")
    else:
        call.writes(path)
    return None


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("ssh", "autossh", "mosh", "slogin", "rsh", "sshpass-ssh"), ssh),
    **dict.fromkeys(("sftp", "ftp", "lftp", "tftp", "ncftp"), file_transfer),
    **dict.fromkeys(("nc", "ncat", "netcat", "telnet"), socket_tool),
    "socat": socat,
    "openssl": tls_client,
    **dict.fromkeys(
        ("mail", "mailx", "sendmail", "msmtp", "mutt", "swaks", "s-nail", "ssmtp", "mpack"), mail
    ),
    "ssh-keygen": key_tool,
}
