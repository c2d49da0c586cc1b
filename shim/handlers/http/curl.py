"""curl: each part between `--next` is a request of its own."""

import re

from sekisho.core.action import Effect
from shim.address import authority, is_loopback_host
from shim.bash.effort import Effort
from shim.bash.patterns import split_braces
from shim.call import Call
from shim.grammar import table
from shim.handlers.http.request import request
from shim.options import Parsed, parse, spec
from shim.text import HOLE, known

WRITING_SCHEMES = table("curl")["writing_schemes"]


_CURL = spec(
    "-A --user-agent -b --cookie -c --cookie-jar -C --continue-at -d --data --data-ascii --data-binary "
    "--data-raw --data-urlencode -D --dump-header -e --referer -E --cert -F --form --form-string -h -H "
    "--header -K --config -m --max-time -o --output -P --ftp-port -Q --quote -r --range -t --telnet-option "
    "-T --upload-file -u --user -U --proxy-user -w --write-out -x --proxy -X --request -y --speed-time -Y "
    "--speed-limit -z --time-cond --json --url --url-query --connect-to --resolve --proxy-header "
    "--preproxy --socks4 --socks4a --socks5 --socks5-hostname --noproxy --unix-socket "
    "--abstract-unix-socket --interface --retry --retry-delay --retry-max-time --connect-timeout "
    "--max-redirs --limit-rate --cacert --capath --key --key-type --pass --output-dir --trace "
    "--trace-ascii --stderr --proto --proto-redir --dns-servers --doh-url --mail-from --mail-rcpt "
    "--ciphers --oauth2-bearer --aws-sigv4 --hsts --alt-svc --etag-save --etag-compare --rate "
    "--parallel-max --request-target --libcurl --netrc-file --max-filesize --variable --expand-url "
    "--expand-data --tls-max --keepalive-time --create-file-mode --local-port --cert-type --crlfile "
    "--engine --login-options --sasl-authzid --service-name --socks5-gssapi-service --proxy1.0 "
    "--expect100-timeout --happy-eyeballs-timeout-ms --haproxy-clientip --pinnedpubkey --curves --krb "
    "--delegation --ftp-account --ftp-method --ftp-alternative-to-user --postquote --prequote "
    "--random-file --egd-file --dns-interface --proxy-cert --proxy-key --proxy-cacert --expand-json",
    flags=(
        "--get --head --remote-name --remote-name-all --fail --silent --show-error --location --insecure "
        "--verbose --compressed --include --progress-bar --parallel --next --version --help --globoff "
        "--post301 --post302 --post303 --location-trusted --create-dirs --remote-header-name "
        "--fail-with-body --ipv4 --ipv6 --http1.1 --http2 --http3 --append --list-only --manual "
        "--no-buffer --netrc --path-as-is --ssl --tcp-nodelay --remote-time --disable --no-clobber --raw "
        "--anyauth --basic --digest --ntlm --negotiate --proxytunnel --remove-on-error --xattr"
    ),
    abbreviate=True,
)


_DATA = (
    "-d",
    "--data",
    "--data-ascii",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--json",
    "--expand-data",
    "--expand-json",
)


_FORM = ("-F", "--form", "--form-string")


_PROXY = (
    "-x",
    "--proxy",
    "--preproxy",
    "--socks4",
    "--socks4a",
    "--socks5",
    "--socks5-hostname",
    "--proxy1.0",
)


def curl(call: Call) -> str | None:
    """Each part between `--next` is a request of its own."""
    arguments = list(call.arguments)
    if any(word in ("--version", "-V", "--help", "-h", "--manual", "-M") for word in arguments[:1]):
        call.does(Effect.READ, "curl", "prints help")
        return HOLE
    parts: list[list[str]] = [[]]
    for word in arguments:
        if word in ("-:", "--next"):
            parts.append([])
        else:
            parts[-1].append(word)
    for part in parts:
        _curl_part(call, parse(part, _CURL))
    return HOLE


_WRITTEN = (
    "-c", "--cookie-jar", "-D", "--dump-header", "--trace", "--trace-ascii", "--libcurl", "--stderr",
    "--etag-save", "--hsts", "--alt-svc",
)  # fmt: skip


def _curl_part(call: Call, parsed: Parsed) -> None:
    if parsed.wild:
        call.unknown("curl", "its arguments cannot be told", code="dynamic-command")
    for path in parsed.all("-K", "--config"):
        if path == "-" and call.stdin is not None and known(call.stdin):
            _config_text(call, call.stdin)
        else:
            call.unknown(path, "a file of options decides", code="config-file")
    urls = [
        address
        for word in parsed.words + parsed.all("--url", "--expand-url")
        for address in globbed(word, parsed)
    ]
    outputs = parsed.all("-o", "--output")
    for position, url in enumerate(urls):
        _curl_url(call, parsed, url)
        _curl_output(call, parsed, url, outputs[min(position, len(outputs) - 1)] if outputs else None)
    for path in parsed.all(*_WRITTEN):
        call.writes(path)
    if not urls and not parsed.has("-K", "--config"):
        call.does(Effect.READ, "curl", "names no address")


def _config_text(call: Call, text: str) -> None:
    words: list[str] = []
    for line in text.splitlines():
        match = re.match(r"\s*-{0,2}([\w-]+)\s*[=: ]?\s*\"?(.*?)\"?\s*$", line)
        if match and not line.lstrip().startswith("#"):
            dashes = "-" if len(match[1]) == 1 else "--"
            words += [dashes + match[1]] + ([match[2]] if match[2] else [])
    _curl_part(call, parse(words, _CURL))


def globbed(word: str, parsed: Parsed) -> list[str]:
    """curl's own braces and ranges in an address."""
    if parsed.has("-g", "--globoff") or not ("[" in word or "{" in word):
        return [word]
    plain = (
        re.sub(r"\[(?:\w+)-(\w+)(?::\d+)?\](?!:\d)", r"\1", word)
        if not re.search(r"\[[0-9a-fA-F:.]*:", word)
        else word
    )
    atoms: list[object] = list(plain)
    found, _more = split_braces(atoms, Effort(len(word)))
    return ["".join(str(atom) for atom in atoms) for atoms in found][:50]


def curl_method(parsed: Parsed) -> str:
    """-X wins; else -I, -T, -d without -G, -F decide."""
    explicit = parsed.last("-X", "--request")
    if explicit is not None:
        return explicit
    if parsed.has("-T", "--upload-file"):
        return "PUT"
    if parsed.has(*_FORM):
        return "POST"
    if parsed.has(*_DATA) and not parsed.has("-G", "--get"):
        return "POST"
    return "HEAD" if parsed.has("-I", "--head") else "GET"


def _curl_url(call: Call, parsed: Parsed, url: str) -> None:
    method = curl_method(parsed)
    scheme = authority(url)[0]
    if scheme == "file":
        if parsed.has("-T", "--upload-file"):
            call.writes(re.sub(r"^file:/+", "/", url))
        else:
            call.does(Effect.READ, url, "reads a file")
        return
    if scheme in ("ftp", "ftps") or scheme in WRITING_SCHEMES:
        acts = parsed.has(
            "-Q", "--quote", "--postquote", "--prequote", "-T", "--upload-file", "-X", "--request"
        )
        acts = acts or (
            scheme not in ("ftp", "ftps", "sftp", "scp", "tftp", "imap", "imaps", "pop3", "pop3s", "ldap")
        )
        request(call, "STOR" if acts else "GET", url)
        return
    request(call, method, url, elsewhere=_rerouted(call, parsed, url))


def _rerouted(call: Call, parsed: Parsed, url: str) -> str:
    """Where options send the connection, if not to the host in the address."""
    for path in parsed.all("--unix-socket", "--abstract-unix-socket"):
        return "host.docker.internal" if "docker" in path or "containerd" in path else "localhost"
    for entry in parsed.all("--connect-to"):
        target = re.sub(r"^[^:]*:[^:]*:", "", entry)
        if not target.startswith(":"):
            return target
    for entry in parsed.all("--resolve"):
        if not entry.startswith("-"):
            return entry.split(":", 2)[-1].split(",")[0]
    proxy = parsed.last(*_PROXY)
    proxy = proxy if proxy is not None else call.state.text("http_proxy") or call.state.text("ALL_PROXY")
    host = authority(url)[1]
    if proxy and is_loopback_host(host) and not parsed.has("--noproxy"):
        return authority(proxy)[1]
    return ""


def _curl_output(call: Call, parsed: Parsed, url: str, name: str | None) -> None:
    folder = parsed.last("--output-dir")
    if name is None and parsed.has("-O", "--remote-name", "--remote-name-all"):
        name = re.split(r"[?#]", url)[0].rsplit("/", 1)[-1] or "index.html"
    if name is None or name == "-":
        return
    name = re.sub(r"#\d", "_", name)
    call.writes(f"{folder.rstrip('/')}/{name}" if folder else name)
