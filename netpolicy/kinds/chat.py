"""Chat services whose methods act by GET as well as by POST: the method's name decides. Pure.

Sources: Slack Web API, Telegram Bot API.
"""

import re

from netpolicy.call import Call, Finding, external, read, unknown
from netpolicy.kinds.example import EXTERNAL, FORM, READ, UNKNOWN, Example

_SLACK = re.compile(r"/api/([A-Za-z0-9_.]+)/?")
_SLACK_READ = re.compile(
    r"api\.test|auth\.test|auth\.teams\.list|search\.\w+|users\.(?:lookupByEmail|identity|profile\.get|getPresence)"
    r"|conversations\.(?:history|replies|members)|chat\.(?:getPermalink|scheduledMessages\.list)"
    r"|files\.comments\.list|(?:\w+\.)*\w*(?:list|info|get)"
)
_SLACK_WRITE = re.compile(
    r"(?:chat|reactions|pins|stars|bookmarks|files|conversations|channels|groups|im|mpim|users|usergroups|dnd"
    r"|reminders|calls|views|dialog|workflows|apps|admin|canvases|team|bots|functions|oauth|openid|tooling|rtm|lists"
    r"|auth|assistant)(?:\.\w+)*?\.?(?:post|update|delete|add|remove|create|set|invite|kick|open|join|leave|close"
    r"|archive|unarchive|rename|upload|complete|mark|share|end|start|revoke|publish|push|me|schedule|unfurl|enable"
    r"|disable|edit|clear|snooze|connect|accept|decline|approve|access|exchange|install|uninstall|register|rotate"
    r"|convert|assign|invalidate|restrict|bulk|unset|v2|deny)\w*",
    re.I,
)
_TELEGRAM = re.compile(r"/(?:file/)?bot[^/]+/(?:test/)?([A-Za-z]+)/?", re.I)
_TELEGRAM_READ = re.compile(
    r"getme|getchat\w*|getfile|getwebhookinfo|getuserprofilephotos|getmycommands|getmyname|getmydescription"
    r"|getmyshortdescription|getmydefaultadministratorrights|getstickerset|getcustomemojistickers|getgamehighscores"
    r"|getforumtopiciconstickers|getbusinessconnection|getstartransactions|getavailablegifts"
)
_TELEGRAM_WRITE = re.compile(
    r"(?:send|edit|delete|set|forward|copy|answer|ban|unban|restrict|promote|pin|unpin|leave|close|logout|create"
    r"|approve|decline|export|revoke|stop|upload|add|remove|save|post|gift|transfer|verify|replace|reopen|hide|refund"
    r"|convert|upgrade|read|getupdates)\w*"
)


def slack(call: Call) -> Finding | None:
    """Slack's Web API; other paths of the host follow the general rules."""
    match = _SLACK.fullmatch(call.path)
    if match is None:
        if call.method == "POST":
            return external("a POST to Slack", code="chat-write")
        odd = call.path.lower().startswith("/api/")
        return unknown("an odd spelling of a Slack method", code="chat-unknown") if odd else None
    name = match[1]
    if call.method not in ("GET", "POST", "HEAD"):
        return None
    if _SLACK_READ.fullmatch(name):
        return read(f"Slack {name}", code="chat-read", detail={"method": name})
    if _SLACK_WRITE.fullmatch(name):
        return external(f"Slack {name}", code="chat-write", detail={"method": name})
    return unknown(f"Slack method {name[:60]} is not known", code="chat-unknown", detail={"method": name})


def telegram(call: Call) -> Finding | None:
    """Telegram's Bot API: methods ignore case and work by GET; `getUpdates` confirms what it fetched."""
    match = _TELEGRAM.fullmatch(call.path)
    if match is None:
        return external("a POST to Telegram", code="chat-write") if call.method == "POST" else None
    name = match[1].lower()
    detail = {"method": match[1]}
    if _TELEGRAM_READ.fullmatch(name):
        return read(f"Telegram {match[1]}", code="chat-read", detail=detail)
    if name == "getupdates" and not call.parameters("offset"):
        return read("Telegram getUpdates without confirming", code="chat-read", detail=detail)
    if _TELEGRAM_WRITE.fullmatch(name):
        return external(f"Telegram {match[1]}", code="chat-write", detail=detail)
    return unknown(f"Telegram method {match[1][:60]} is not known", code="chat-unknown", detail=detail)


KINDS = {"slack": slack, "telegram": telegram}
EXAMPLES = (
    Example("slack", "GET /api/chat.postMessage?text=hi", EXTERNAL),
    Example("slack", "GET /api/reactions.add?name=x", EXTERNAL),
    Example("slack", "POST /api/conversations.list", READ, b"limit=1", FORM),
    Example("slack", "GET /api/some.newMethod", UNKNOWN),
    Example("slack", "GET /api/conversations.mark?ts=1", EXTERNAL),
    Example("telegram", "GET /bot1:X/SENDMESSAGE?text=hi", EXTERNAL),
    Example("telegram", "GET /bot1:X/getMe", READ),
    Example("telegram", "GET /bot1:X/getUpdates?offset=3", EXTERNAL),
    Example("telegram", "GET /bot1:X/frobnicate", UNKNOWN),
)
