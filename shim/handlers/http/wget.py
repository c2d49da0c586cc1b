"""wget: its method, and the files it leaves."""

import re

from sekisho.core.action import Effect
from shim.call import Call
from shim.handlers.http.request import READS, request
from shim.options import Parsed, parse, spec
from shim.text import HOLE

_WGET = spec(
    "-o --output-file -a --append-output -e --execute -i --input-file -B --base -t --tries -O "
    "--output-document --start-pos -T --timeout --dns-timeout --connect-timeout --read-timeout -w --wait "
    "--waitretry -Q --quota --limit-rate -P --directory-prefix --http-user --http-password --cut-dirs "
    "--default-page --header --max-redirect --proxy-user --proxy-password --referer -U --user-agent "
    "--post-data --post-file --method --body-data --body-file --load-cookies --save-cookies --certificate "
    "--ca-certificate --private-key -l --level -A --accept -R --reject -D --domains --exclude-domains -I "
    "--include-directories -X --exclude-directories --config --user --password --use-askpass "
    "--bind-address --secure-protocol --progress --restrict-file-names",
    flags=(
        "--spider --quiet --no-verbose --verbose --continue --timestamping --no-clobber --recursive "
        "--mirror --help --version --no-check-certificate --server-response --content-disposition "
        "--page-requisites --convert-links --no-parent --background --debug --trust-server-names "
        "--inet4-only --delete-after --no-proxy --force-directories"
    ),
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
