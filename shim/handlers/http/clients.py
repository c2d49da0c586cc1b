"""httpie, and which function judges which HTTP client."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.handlers.http.curl import curl
from shim.handlers.http.request import request
from shim.handlers.http.wget import wget
from shim.options import parse, spec
from shim.text import HOLE, WILD

_HTTPIE = spec(
    "-a --auth -A --auth-type -o --output -s --style -p --print -P --session --session-read-only --proxy "
    "--verify --timeout --max-redirects --cert --cert-key --ssl --ciphers --format-options "
    "--response-charset --response-mime --default-scheme --boundary --raw --bearer --max-headers --pretty",
    flags=(
        "--json --form --multipart --offline --ignore-stdin --download --headers --body --verbose --follow "
        "--help --version --check-status --stream --quiet --all --continue"
    ),
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
    method, url, items = _named(words)
    if method is None:
        data = any(_posts(item) for item in items) or parsed.has("--raw") or WILD in items
        reads_input = not parsed.has("--ignore-stdin", "-I")  # an agent's shell has no terminal
        method = "POST" if data or reads_input else "GET"
    if url.startswith(":") and url[:2] != "::":
        url = re.sub(r"^:(?=\d|/|$)", "localhost:", url).rstrip(":")
    request(call, method, url)
    for path in parsed.all("-o", "--output"):
        call.writes(path)
    if parsed.has("--download", "-d") and not parsed.has("-o", "--output"):
        call.writes(re.split(r"[?#]", url)[0].rsplit("/", 1)[-1] or "index.html", append=True)
    return HOLE


def _named(words: list[str]) -> tuple[str | None, str, list[str]]:
    """The method, if one is named, the address, and what is sent to it."""
    if re.fullmatch(r"[A-Za-z]+", words[0]) and len(words) > 1 and words[0].lower() != "localhost":
        return words[0].upper(), words[1], words[2:]
    if HOLE in words[0] and len(words) > 1:
        return HOLE, words[1], words[2:]
    return None, words[0], words[1:]


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
