"""Key-value and document stores: redis, mongo."""

import re

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.grammar import table
from shim.handlers.sql.places import database_place, hosts_of
from shim.options import parse, spec
from shim.text import HOLE, known

_REDIS = spec(
    "-h -p -a -u -n -r -i -s --user --pass --pattern --eval --cacert --cert --key --sni -d -D -X --count "
    "-t --rdb --functions-rdb --memkeys-samples --intrinsic-latency --tls-ciphers --show-pushes "
    "--quoted-pattern --cluster-args",
    stop=True,
)


def redis(call: Call) -> str | None:
    parsed = parse(call.arguments, _REDIS)
    hosts = hosts_of(call, parsed, "-h", "REDISCLI_HOST", parsed.all("-u"))
    place, target = database_place(hosts), (hosts or ["local store"])[0]
    if parsed.has("--help", "--version", "-v") and not parsed.words:
        call.does(Effect.READ, target, "prints help")
        return HOLE
    if parsed.has("--eval"):
        call.unknown(target, "a script file decides", code="script-body")
    if parsed.has("--cluster", "--pipe"):
        call.does(place if place is not Effect.READ else Effect.DESTRUCTIVE, target, "changes the store")
    commands = (
        [parsed.words]
        if parsed.words
        else [line.split() for line in (call.stdin or "").splitlines() if line.strip()]
    )
    scans = parsed.has("--scan", "--bigkeys", "--memkeys", "--hotkeys", "--stat", "--latency", "--rdb")
    if not commands and not scans:
        call.unknown(target, "an interactive session", code="dynamic-command")
    if scans:
        call.does(Effect.READ, target, "reads the store")
    for command in commands:
        _redis_command(call, command, place, target)
    return HOLE


def _redis_command(call: Call, command: list[str], place: Effect, target: str) -> None:
    word = command[0].lower()
    pair = " ".join(command[:2]).lower()
    names = table("redis")
    effect = Effect.UNKNOWN
    for kind in ("read", "local", "destructive"):
        if pair.replace(" ", "_") in names[kind] or word in names[kind]:
            effect = Effect(kind)
            if pair.replace(" ", "_") in names[kind]:
                break
    if not known(word):
        effect = Effect.UNKNOWN
    elif effect is not Effect.READ and place is not Effect.READ:
        effect = place if effect is not Effect.UNKNOWN or place is Effect.EXTERNAL else effect
    call.does(effect, target, f"redis {word}", verb=f"redis.{word}" if known(word) else "redis")


_MONGO = spec("--eval -u --username -p --password --host --port --authenticationDatabase -f --file")
_MONGO_WRITES = re.compile(
    r"\.(insert|insertOne|insertMany|update|updateOne|updateMany|replaceOne|save|createIndex|createIndexes|"
    r"createCollection|createUser|createView|createRole|grantRolesToUser|bulkWrite|findAndModify|"
    r"findOneAndUpdate|findOneAndReplace|renameCollection|ensureIndex|copyTo|mapReduce|adminCommand|"
    r"runCommand|initiate|reconfig|add|auth|shutdownServer|setProfilingLevel|enableSharding|"
    r"shardCollection|fsyncLock|changeUserPassword)\s*\("
)
_MONGO_LOSES = re.compile(
    r"\.(drop|dropDatabase|remove|delete|deleteOne|deleteMany|dropIndex|dropIndexes|findOneAndDelete|"
    r"dropUser|dropRole|truncate|updateMany|update|updateOne|replaceOne|renameCollection)\s*\("
)
_MONGO_READS = re.compile(
    r"\.(find|findOne|count|countDocuments|estimatedDocumentCount|aggregate|distinct|getCollectionNames|"
    r"getIndexes|stats|serverStatus|hello|isMaster|version|getSiblingDB|getCollection|limit|sort|skip|"
    r"toArray|forEach|pretty|map|explain|status|getUsers|getName|dataSize|listDatabases|hostInfo|currentOp|"
    r"getMongo|project|next|hasNext|size|join|itcount)\s*\("
)


def mongo(call: Call) -> str | None:
    parsed = parse(call.arguments, _MONGO)
    if parsed.has("--help", "--version", "-h"):
        call.does(Effect.READ, call.name, "prints help")
        return HOLE
    hosts = hosts_of(
        call, parsed, "--host", "", [word for word in parsed.words if "://" in word or word.startswith(HOLE)]
    )
    place, target = database_place(hosts), (hosts or ["local store"])[0]
    texts = parsed.all("--eval")
    if parsed.has("-f", "--file") or any(word.endswith(".js") for word in parsed.words):
        call.unknown(target, "a script file decides", code="script-body")
    elif not texts:
        texts = [call.stdin if call.stdin is not None else HOLE]
    for text in texts:
        effect = mongo_effect(text)
        if place is Effect.EXTERNAL and effect in (Effect.LOCAL, Effect.DESTRUCTIVE):
            effect = Effect.EXTERNAL
        elif place is Effect.UNKNOWN and effect is not Effect.READ:
            effect = Effect.UNKNOWN
        call.does(effect, target, "a script in the mongo shell", verb="mongo.eval")
    return HOLE


def mongo_effect(text: str) -> Effect:
    """What a script does, by the methods it calls."""
    if not known(text):
        return Effect.UNKNOWN
    code = re.sub(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", "''", text)
    if _MONGO_LOSES.search(code):
        return Effect.DESTRUCTIVE
    if _MONGO_WRITES.search(code) or re.search(r"\$(out|merge)\b", text):
        return Effect.LOCAL
    calls = re.findall(r"\.\w+\s*\(", code)
    reads = all(_MONGO_READS.match(one) for one in calls) and not re.search(
        r"\b(load|require|eval|Function|\[)\s*\(", code
    )
    return Effect.READ if reads else Effect.UNKNOWN


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), redis),
    **dict.fromkeys(("mongosh", "mongo"), mongo),
}
