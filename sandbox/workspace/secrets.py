"""Which files look like secrets, by name and by content. Pure.

False alarms cost trust, so a generic `name = value` counts only for a literal, random-looking value;
a value that is a variable, a call, a type or a placeholder passes.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

import msgspec


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A secret-shaped piece: the rule that saw it, its line (from 1), and a masked excerpt."""

    rule: str
    line: int
    excerpt: str


_EXAMPLE = rb".*[._\-](?:example|sample|template|dist|tmpl|tpl|defaults?|schema)"
_EXACT_NAMES: frozenset[bytes] = frozenset(
    b".netrc _netrc .pypirc .pgpass .my.cnf .htpasswd .git-credentials .dockercfg .vault-token .vault_pass "
    b".envrc kubeconfig .s3cfg .boto .terraformrc credentials.json client_secret.json "
    b"id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk master.key "
    b"secrets.json secrets.yml secrets.yaml secrets.toml secrets.env".split()
)
_NAMES: tuple[tuple[bytes, str], ...] = (
    (rb"\.env(?:[._\-].*)?|.*\.env", "environment file"),
    (rb".*\.(?:p12|pfx|jks|keystore|ppk|kdbx|keytab|ovpn)", "key store"),
    (rb".*\.(?:tfvars|tfvars\.json|tfstate|tfstate\.backup)", "Terraform values"),
    (rb".*\.kubeconfig|kubeconfig[._-].*", "kubeconfig"),
    (rb".*service[-_]?account.*\.json|.*[-_]credentials\.json", "service account"),
    (rb"client_secret.*\.json", "service account"),
)
_KEY_FILE = rb".*\.(?:pem|key)"
_PUBLIC_PEM = rb"-----BEGIN (?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY|X509 CRL|DH PARAMETERS)-----"
_FOLDERS: tuple[bytes, ...] = (b".secrets/", b".ssh/", b".aws/credentials", b".kube/config", b".gnupg/")
_FOLDER_FILES: tuple[bytes, ...] = (b".docker/config.json", b".cargo/credentials", b".gem/credentials")
_FOLDER = b"|".join(re.escape(b"/" + folder) for folder in _FOLDERS + _FOLDER_FILES)


def secret_name(path: bytes, head: bytes | None = None) -> str | None:
    """Why the path looks like a secret by its name, or None. `head` is its beginning, where known."""
    whole = b"/" + path.lower()
    name = whole.rpartition(b"/")[2]
    why = _named_so(whole, name, head)
    # Asked last: most names are of no shape at all, and there may be very many.
    if why is None or re.fullmatch(_EXAMPLE, name, re.S) or (name.endswith(b".pub") and name != b".pub"):
        return None
    return why


def _named_so(whole: bytes, name: bytes, head: bytes | None) -> str | None:
    if name in _EXACT_NAMES:
        return "credential file"
    if re.search(_FOLDER, whole):
        return "credential folder"
    if re.fullmatch(_KEY_FILE, name, re.S):
        return None if head is not None and not _holds_key(head) else "private key"
    return next((why for pattern, why in _NAMES if re.fullmatch(pattern, name, re.S)), None)


def _holds_key(head: bytes) -> bool:
    return b"PRIVATE KEY" in head or not (re.search(_PUBLIC_PEM, head) or not head.strip())


_LITERAL = (
    rb"(?i)(?:passw(?:or)?d|secret|token|(?:api|access|auth|private)[_\-]?key)[\w\-]{0,20}[\"']?"
    rb"\s{0,4}(?::=|=>|[:=])\s{0,4}"
    rb"(?P<value>\"[^\"\n]{8,200}\"|'[^'\n]{8,200}'|[^\s\"'(){}\[\]<>,;$]{8,200}(?![\w(\[.]))"
)
_PEM = (
    rb"-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:\\[rn]|\s)[^-]{0,300}?[A-Za-z0-9+/=]{20}"
)
_URL_PASSWORD = rb"\b[a-z][a-z0-9+.\-]{1,15}://[^\s/:@'\"<>{}$]{1,64}:(?P<value>[^\s/@'\"<>{}$]{6,})@[\w.\-]+"
# Compiled where they are searched for (`re` keeps them): the start of a session must not wait for that.
_RULES: dict[str, bytes] = {
    "private key": _PEM,
    "AWS access key": rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GitHub token": rb"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    "GitLab token": rb"\bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_\-]{20,}",
    "Slack token": rb"\bxox[abeprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T\w{6,}/B\w{6,}/\w{16,}",
    "Stripe key": rb"\b[rs]k_live_[0-9A-Za-z]{16,}",
    "Anthropic key": rb"\bsk-ant-[A-Za-z0-9_\-]{20,}",
    "OpenAI key": rb"\bsk-(?:proj-|svcacct-)[A-Za-z0-9_\-]{20,}|\bsk-[A-Za-z0-9]{32,}\b",
    "Google key": rb"\bAIza[0-9A-Za-z_\-]{35}|\bGOCSPX-[0-9A-Za-z_\-]{20,}|\bya29\.[0-9A-Za-z_\-]{20,}",
    "npm token": rb"\bnpm_[A-Za-z0-9]{36}\b|(?m:^|:)_(?:authToken|auth|password)\s*=\s*(?!\$)[^\s$]{8,}",
    "PyPI token": rb"\bpypi-[A-Za-z0-9_\-]{50,}",
    "SendGrid key": rb"\bSG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",
    "Hugging Face token": rb"\bhf_[A-Za-z0-9]{30,}\b",
    "DigitalOcean token": rb"\bdo[opr]_v1_[a-f0-9]{64}\b",
    "age key": rb"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "JSON web token": rb"\beyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}",
    "password in URL": _URL_PASSWORD,
    "literal credential": _LITERAL,
}
_PLACEHOLDER = (
    rb"(?i)example|placeholder|change.?me|dummy|sample|redacted|your[_\- ]|<[^>]*>|x{4,}|\*{3,}|\.{3}"
    rb"|\$[{(\w]|\{\{|%\w|0{8}|12345678|abcdef|test|fake|passw|secret|token|^none$|^null$|^true$|^false$"
)
_WORDS = rb"[A-Za-z]+\d{0,2}(?:[._\-]+[A-Za-z]+\d{0,2})+"  # `config.access_key_v2`
_GENERIC = ("literal credential", "password in URL")


def scan(content: bytes) -> list[Match]:
    """The secret-shaped pieces of a text, in order of rules, each rule at most ten times."""
    found: list[Match] = []
    for rule, pattern in _RULES.items():
        for count, hit in enumerate(_hits(rule, pattern, content)):
            if count == 10:
                break
            line = content.count(b"\n", 0, hit.start()) + 1
            found.append(Match(rule=rule, line=line, excerpt=_masked(hit)))
    return found


def secret_file(path: bytes, head: bytes) -> str | None:
    """Why a file is secret-shaped, by name or by the beginning of its content; None if it is not."""
    by_name = secret_name(path, head)
    if by_name:
        return by_name
    match = next(iter(scan(head)), None)
    return f"{match.rule} in line {match.line}" if match else None


def _hits(rule: str, pattern: bytes, content: bytes) -> Iterator[re.Match[bytes]]:
    for hit in re.finditer(pattern, content):
        if rule in _GENERIC:
            value = hit["value"].strip(b"\"'")
            if _looks_random(value) or (rule == "password in URL" and not re.search(_PLACEHOLDER, value)):
                yield hit
        elif b"EXAMPLE" not in hit[0]:
            yield hit


def _looks_random(value: bytes) -> bool:
    if len(value) < 12 or b" " in value or re.search(_PLACEHOLDER, value) or re.fullmatch(_WORDS, value):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^\w]"))
    has_digit = re.search(rb"[0-9]", value) is not None
    return (
        has_digit
        and kinds >= 2
        and _entropy(value) >= 3.0
        and not re.search(rb"[/\\]\w+[/\\]|\w\.\w+\(", value)
    )


def _entropy(value: bytes) -> float:
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def _masked(hit: re.Match[bytes]) -> str:
    named = hit.groupdict().get("value")
    kept = hit[0][: max(hit[0].find(named), 0)] if named else hit[0][:4]
    return kept[-40:].decode("ascii", "replace").strip() + "…"
