"""curl, wget and httpie: the method on the wire and the host decide."""

import re

from sekisho.core.action import Effect
from shim.address import authority, is_inner_host, is_loopback_host, is_uncertain_host
from shim.bash.patterns import split_braces
from shim.call import Call, Handler
from shim.options import Parsed, parse, spec
from shim.text import HOLE, WILD, known

READS = frozenset(("GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "TRACE"))
WRITING_SCHEMES = frozenset(
    (
        "smtp",
        "smtps",
        "imap",
        "imaps",
        "pop3",
        "pop3s",
        "telnet",
        "mqtt",
        "ldap",
        "dict",
        "gopher",
        "rtmp",
        "smb",
        "smbs",
        "scp",
        "sftp",
        "tftp",
        "ws",
        "wss",
    )
)


def request(call: Call, method: str, url: str, *, elsewhere: str = "") -> None:
    """One request. `elsewhere` is where it really goes, if an option says so."""
    scheme, host, _ = authority(url)
    host = elsewhere or host
    reads = method.upper() in READS
    verb = f"http.{method.lower()}" if known(method) else "http.request"
    if not known(method):
        call.does(Effect.UNKNOWN, url, "the method cannot be told", code="dynamic-method", verb=verb)
    elif HOLE in re.sub(r":[^\]]*$", "", host) or not host or (is_uncertain_host(host) and not reads):
        effect = Effect.READ if reads else Effect.UNKNOWN
        call.does(effect, url, "the host cannot be told", code="dynamic-target", verb=verb)
    elif is_loopback_host(host) and not _ambiguous(url):
        call.does(Effect.LOCAL, url, "talks to this machine", verb=verb)
    elif reads and is_inner_host(host):
        call.does(
            Effect.FORBIDDEN, url, "reads from an address that is not public", code="inner-address", verb=verb
        )
    elif reads:
        call.does(Effect.READ, url, "reads from the network", verb=verb, inspected=True)
    else:
        call.does(
            Effect.EXTERNAL,
            url,
            f"{method.upper()} changes something outside",
            code="http-write",
            verb=verb,
            inspected=True,
        )


def _ambiguous(url: str) -> bool:
    """A backslash before an `@`: clients disagree on which side the host stands."""
    match = re.match(r"\w+:/+([^/?#]*)", url)
    if match is None or "\\" not in match[1]:
        return False
    return not is_loopback_host(match[1].split("\\", 1)[0])


_CURL = spec(
    "-A --user-agent -b --cookie -c --cookie-jar -C --continue-at -d --data --data-ascii --data-binary --data-raw "
    "--data-urlencode -D --dump-header -e --referer -E --cert -F --form --form-string -h -H --header -K --config "
    "-m --max-time -o --output -P --ftp-port -Q --quote -r --range -t --telnet-option -T --upload-file -u --user "
    "-U --proxy-user -w --write-out -x --proxy -X --request -y --speed-time -Y --speed-limit -z --time-cond --json "
    "--url --url-query --connect-to --resolve --proxy-header --preproxy --socks4 --socks4a --socks5 --socks5-hostname "
    "--noproxy --unix-socket --abstract-unix-socket --interface --retry --retry-delay --retry-max-time "
    "--connect-timeout --max-redirs --limit-rate --cacert --capath --key --key-type --pass --output-dir --trace "
    "--trace-ascii --stderr --proto --proto-redir --dns-servers --doh-url --mail-from --mail-rcpt --ciphers "
    "--oauth2-bearer --aws-sigv4 --hsts --alt-svc --etag-save --etag-compare --rate --parallel-max --request-target "
    "--libcurl --netrc-file --max-filesize --variable --expand-url --expand-data --tls-max --keepalive-time "
    "--create-file-mode --local-port --cert-type --crlfile --engine --login-options --sasl-authzid --service-name "
    "--socks5-gssapi-service --proxy1.0 --expect100-timeout --happy-eyeballs-timeout-ms --haproxy-clientip "
    "--pinnedpubkey --curves --krb --delegation --ftp-account --ftp-method --ftp-alternative-to-user --postquote "
    "--prequote --random-file --egd-file --dns-interface --proxy-cert --proxy-key --proxy-cacert --expand-json",
    flags="--get --head --remote-name --remote-name-all --fail --silent --show-error --location --insecure --verbose "
    "--compressed --include --progress-bar --parallel --next --version --help --globoff --post301 --post302 --post303 "
    "--location-trusted --create-dirs --remote-header-name --fail-with-body --ipv4 --ipv6 --http1.1 --http2 --http3 "
    "--append --list-only --manual --no-buffer --netrc --path-as-is --ssl --tcp-nodelay --remote-time --disable "
    "--no-clobber --raw --anyauth --basic --digest --ntlm --negotiate --proxytunnel --remove-on-error --xattr",
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
    arguments = [word for word in call.arguments]
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
    for position, url in enumerate(urls):
        _curl_url(call, parsed, url)
        _curl_output(call, parsed, url, position)
    for path in parsed.all(
        "-c",
        "--cookie-jar",
        "-D",
        "--dump-header",
        "--trace",
        "--trace-ascii",
        "--libcurl",
        "--stderr",
        "--etag-save",
        "--hsts",
        "--alt-svc",
    ):
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
    if parsed.has("-g", "--globoff"):
        return [word]
    plain = (
        re.sub(r"\[(?:\w+)-(\w+)(?::\d+)?\](?!:\d)", r"\1", word)
        if not re.search(r"\[[0-9a-fA-F:.]*:", word)
        else word
    )
    atoms: list[object] = list(plain)
    return ["".join(str(atom) for atom in atoms) for atoms in split_braces(atoms)][:50]


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


def _curl_output(call: Call, parsed: Parsed, url: str, position: int) -> None:
    outputs = parsed.all("-o", "--output")
    folder = parsed.last("--output-dir")
    name = outputs[min(position, len(outputs) - 1)] if outputs else None
    if name is None and parsed.has("-O", "--remote-name", "--remote-name-all"):
        name = re.split(r"[?#]", url)[0].rsplit("/", 1)[-1] or "index.html"
    if name is None or name == "-":
        return
    name = re.sub(r"#\d", "_", name)
    call.writes(f"{folder.rstrip('/')}/{name}" if folder else name)


_WGET = spec(
    "-o --output-file -a --append-output -e --execute -i --input-file -B --base -t --tries -O --output-document "
    "--start-pos -T --timeout --dns-timeout --connect-timeout --read-timeout -w --wait --waitretry -Q --quota "
    "--limit-rate -P --directory-prefix --http-user --http-password --cut-dirs --default-page --header "
    "--max-redirect --proxy-user --proxy-password --referer -U --user-agent --post-data --post-file --method "
    "--body-data --body-file --load-cookies --save-cookies --certificate --ca-certificate --private-key -l --level "
    "-A --accept -R --reject -D --domains --exclude-domains -I --include-directories -X --exclude-directories "
    "--config --user --password --use-askpass --bind-address --secure-protocol --progress --restrict-file-names",
    flags="--spider --quiet --no-verbose --verbose --continue --timestamping --no-clobber --recursive --mirror --help "
    "--version --no-check-certificate --server-response --content-disposition --page-requisites --convert-links "
    "--no-parent --background --debug --trust-server-names --inet4-only --delete-after --no-proxy --force-directories",
    abbreviate=True,
)


def wget(call: Call) -> str | None:
    parsed = parse(call.arguments, _WGET)
    if parsed.has("--help", "--version", "-h", "-V"):
        call.does(Effect.READ, "wget", "prints help")
        return HOLE
    if parsed.has("--config", "-e", "--execute", "--use-askpass"):
        call.unknown("wget", "settings decide", code="config-file")
    if parsed.wild:
        call.unknown("wget", "its arguments cannot be told", code="dynamic-command")
    method = parsed.last("--method") or ("POST" if parsed.has("--post-data", "--post-file") else "GET")
    if parsed.has("-i", "--input-file"):
        call.does(
            Effect.READ if method.upper() in READS else Effect.UNKNOWN, "a list of addresses", "reads a list"
        )
    for url in parsed.words:
        request(call, method, url)
    _wget_output(call, parsed)
    return HOLE


def _wget_output(call: Call, parsed: Parsed) -> None:
    for path in parsed.all("-o", "--output-file", "--save-cookies"):
        call.writes(path)
    name = parsed.last("-O", "--output-document")
    if parsed.has("--spider") or name == "-":
        return
    folder = parsed.last("-P", "--directory-prefix") or "."
    if name is not None:
        call.writes(name)
    elif parsed.has("-i", "--input-file", "-r", "--recursive", "-m", "--mirror"):
        call.writes(f"{folder.rstrip('/')}/downloaded-by-wget")
    else:
        for url in parsed.words:
            base = re.split(r"[?#]", re.sub(r"^\w+://", "", url))[0].partition("/")[2].rsplit("/", 1)[-1]
            # wget never overwrites: it numbers a second file of the same name
            call.writes(f"{folder.rstrip('/')}/{base or 'index.html'}", append=True)


_HTTPIE = spec(
    "-a --auth -A --auth-type -o --output -s --style -p --print -P --session --session-read-only --proxy --verify "
    "--timeout --max-redirects --cert --cert-key --ssl --ciphers --format-options --response-charset "
    "--response-mime --default-scheme --boundary --raw --bearer --max-headers --pretty",
    flags="--json --form --multipart --offline --ignore-stdin --download --headers --body --verbose --follow --help "
    "--version --check-status --stream --quiet --all --continue",
    abbreviate=True,
)
_ITEM = re.compile(r"[^:=@]+(:=@|:=|=@|==|=|@|:).*", re.DOTALL)


def httpie(call: Call) -> str | None:
    """The method if one is named; else data posts, as does an input that is not a terminal."""
    parsed = parse(call.arguments, _HTTPIE)
    words = parsed.words
    if parsed.has("--help", "--version", "--manual") or not words:
        call.does(Effect.READ, call.name, "prints help")
        return HOLE
    if parsed.has("--offline"):
        call.does(Effect.READ, words[-1], "prints the request only")
        return HOLE
    method = None
    if re.fullmatch(r"[A-Za-z]+", words[0]) and len(words) > 1 and words[0].lower() != "localhost":
        method, words = words[0].upper(), words[1:]
    elif HOLE in words[0] and len(words) > 1:
        method, words = HOLE, words[1:]
    url, items = words[0], words[1:]
    if method is None:
        data = any(_posts(item) for item in items) or parsed.has("--raw") or WILD in items
        reads_input = not parsed.has("--ignore-stdin", "-I")  # an agent's shell has no terminal
        method = "POST" if data or reads_input else "GET"
    url = (
        re.sub(r"^:(?=\d|/|$)", "localhost:", url).rstrip(":")
        if url.startswith(":") and url[:2] != "::"
        else url
    )
    request(call, method, url)
    for path in parsed.all("-o", "--output"):
        call.writes(path)
    if parsed.has("--download", "-d") and not parsed.has("-o", "--output"):
        call.writes(re.split(r"[?#]", url)[0].rsplit("/", 1)[-1] or "index.html", append=True)
    return HOLE


def _posts(item: str) -> bool:
    match = re.match(r"[^:=@\\]*(:=@|:=|=@|==|=|@|:)", item)
    return match is not None and match[1] not in ("==", ":")


HANDLERS: dict[str, Handler] = {
    "curl": curl,
    "curlie": curl,
    "wget": wget,
    "wget2": wget,
    "http": httpie,
    "https": httpie,
    "xh": httpie,
    "xhs": httpie,
}
