"""GETs that act, by shapes that many self-hosted services share: links, hooks, action parameters. Pure."""

import re

from netpolicy.address import is_loopback_host, is_public, parse_literal
from netpolicy.call import Call, Finding, external, unknown
from netpolicy.words import words

_HOOK = re.compile(
    r"/(?:api/)?webhook(?:-test)?/[^/]+(?:/.*)?|/api/webhooks/[^/]+(?:/.*)?|/hooks?/catch/.+|.*/nic/update/?"
    r"|.*/(?:deploy|build)_hooks/.+|.*/buildByToken/.*|/generic-webhook-trigger/.*|.*/notifyCommit/?"
    r"|/macros/s/.+/exec/?|.*/trigger/with/key/.+|.*/triggers/[^/]+/(?:paths/)?(?:invoke|run)/?"
    # Build servers, push monitors, senders by key, announcements to search engines, links that are made.
    r"|.*/job/.+/(?:build(?:WithParameters)?|polling)/?|/api/push/[^/]+/?|/[^/]+\.send/?|/send/[^/]+/.+"
    r"|.*/dynamicURL/?|/forms/.+/formResponse/?"
    r"|.*/indexnow/?|.*/action\.(?:html|do|php|aspx)|.*/(?:[\w-]+-)?create\.(?:php|aspx?|jsp|do)",
    re.I,
)
_VERBS = (
    "confirm|verify|activate|approve|reject|accept|decline|cancel|delete|remove|revoke|reset|deactivate|disable|enable"
    "|subscribe|vote|like|join|leave|pay|checkout|purge|restart|reboot|shutdown|rsvp|run|start|stop|trigger|deploy"
    "|invite|publish|send|destroy|execute|kill|merge|close|ban|unban|kick|suspend|promote|demote|refund|rollback"
    "|redeploy|resend|retry|rerun|rebuild|terminate|unlock|trash|wipe|acknowledge|resolve|snooze"
)
_LINK = re.compile(
    r".*/(?:unsubscribe|opt-?out|log-?out|sign-?out|wp-cron)(?:\.\w+)?(?:/[^/]*)?/?"
    # An act on one numbered thing: `/items/7/delete`.
    rf"|.*/(?:[0-9]+|[0-9a-f]{{8}}-[0-9a-f-]{{27}}|[0-9a-f]{{24,64}})/(?:{_VERBS})/?",
    re.I,
)
_LINK_WITH_TOKEN = re.compile(rf".*/(?:{_VERBS})(?:\.\w+)?/?", re.I)
_TOKENS = ("token", "key", "sig", "signature", "code", "hash", "t", "uid", "id", "email")

# Address updates (the dyndns2 protocol and what resembles it): a name, and an address or a password for it.
_UPDATE = re.compile(r".*/(?:dyn)?update(?:\.php)?/?", re.I)
_NAMES = ("host", "hostname", "hostnames", "domain", "domains", "zone", "h")
_PROOFS = (
    "ip",
    "ipv4",
    "ipv6",
    "ip6",
    "password",
    "pass",
    "passwd",
    "pw",
    "token",
    "key",
    "k",
    "auto",
    "secret",
)

_ACTION_KEYS = ("action", "do", "cmd", "command", "op", "operation", "act", "method")
_ACTS = words(
    "delete remove create update add set post send edit save drop kill stop start restart reboot "
    "destroy disable enable approve reject reset purge clear insert terminate publish execute exec "
    "run deploy trigger upload write unsubscribe subscribe logout move rename grant revoke transfer "
    "pay buy order cancel confirm submit invoke import register unload reload put patch mark close "
    "open merge push install uninstall shutdown wipe truncate modify change vote like follow invite "
    "kick ban unban rollback revert undelete protect unprotect suspend restore rerun redeploy resend "
    "trash refund"
)
_METHOD_PATH = re.compile(r"(?:/[^/]+)*/(?:method|api|rest|rpc)/(?P<name>[a-z]\w*(?:\.[a-z]\w*)+)/?", re.I)
_PING = re.compile(r".*/ping/?", re.I)
_FILE = re.compile(r".*\.(?:json|xml|html?|js|css|txt|ya?ml|md|png|jpe?g|svg|gz|zip|tar)", re.I)
_ACTS_ANYWHERE = words("delete remove drop destroy purge terminate")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_EMBEDDED = re.compile(r"(?:https?|ftp|gopher|dict|file|ldap):/{1,3}([^/?#\s]*)", re.I)
# Ports of other protocols (fetch standard, "bad port"): HTTP sent there is heard as something else.
_OTHER_PORTS = frozenset(
    (
        1,
        7,
        9,
        11,
        13,
        15,
        17,
        19,
        20,
        21,
        22,
        23,
        25,
        37,
        42,
        43,
        53,
        69,
        77,
        79,
        87,
        95,
        101,
        102,
        103,
        104,
        109,
        110,
        111,
        113,
        115,
        117,
        119,
        123,
        135,
        137,
        139,
        143,
        161,
        179,
        389,
        427,
        465,
        512,
        513,
        514,
        515,
        526,
        530,
        531,
        532,
        540,
        548,
        554,
        556,
        563,
        587,
        601,
        636,
        989,
        990,
        993,
        995,
        1719,
        1720,
        1723,
        2049,
        3306,
        3389,
        3659,
        4045,
        4190,
        5060,
        5061,
        5432,
        5672,
        6000,
        6379,
        6566,
        6665,
        6666,
        6667,
        6668,
        6669,
        6679,
        6697,
        11211,
        27017,
    )
)
_COMES_BACK = frozenset(
    {"redirect_uri", "redirect", "redirect_url", "return_to", "callback", "next", "continue"}
)


def _acts(value: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(value)]
    return bool(words) and (words[0] in _ACTS or not _ACTS_ANYWHERE.isdisjoint(words))


def _method_acts(path: str) -> bool:
    """Whether the last part of a path is a method's name that says an act: `/method/wall.post`."""
    named = _METHOD_PATH.fullmatch(path)
    return named is not None and not _FILE.fullmatch(path) and _acts(named["name"].rpartition(".")[2])


def _inner(host: str) -> bool:
    """Whether an embedded address names a place that is not public."""
    name = host.rpartition("@")[2]
    bare = name if name.startswith("[") else name.partition(":")[0]
    try:
        literal = parse_literal(bare.lower())
    except ValueError:
        return True
    return is_loopback_host(bare) or (literal is not None and not is_public(literal))


def _updates_address(call: Call) -> bool:
    if call.query.has("myip"):
        return True
    return _UPDATE.fullmatch(call.path) is not None and call.query.has(*_NAMES) and call.query.has(*_PROOFS)


def fetches_inner(call: Call) -> Finding | None:
    """A URL inside the path or a parameter that points where nothing may go: somebody else would fetch it."""
    texts = [call.path] if ":/" in call.path else []
    texts += [value for key, value in call.query if key.lower() not in _COMES_BACK and "://" in value]
    for text in texts:
        for match in _EMBEDDED.finditer(text):
            if _inner(match[1]):
                return unknown("asks another server to fetch a private address", code="embedded-address")
    return None


def judge(call: Call) -> Finding | None:
    """A GET (or HEAD) of a shape that acts."""
    if call.request.port in _OTHER_PORTS:
        return unknown(f"port {call.request.port} belongs to another protocol", code="port-odd")
    if call.method not in ("GET", "HEAD"):
        return None
    if call.path.rstrip("/") == "/dns-query" or "dns-message" in call.header("accept"):
        return unknown("a name query: names alone carry data", code="dns-over-https")
    if _HOOK.fullmatch(call.path):
        return external("a hook that acts when it is fetched", code="acting-get")
    if _updates_address(call):
        return external("gives a name another address", code="acting-get")
    if any(map(_acts, call.query.all(*_ACTION_KEYS))) or _method_acts(call.path):
        return unknown("a parameter names an act", code="acting-get")
    if call.query.has("sitemap") and _PING.fullmatch(call.path):
        return external("tells a search engine of a site", code="acting-get")
    if _LINK.fullmatch(call.path) or (call.query.has(*_TOKENS) and _LINK_WITH_TOKEN.fullmatch(call.path)):
        return unknown("a link that may act when it is fetched", code="acting-get")
    return fetches_inner(call)
