"""Git LFS beside a forge: the batch API and basic transfers, as git-lfs's docs/api describe them."""

import json
import re
from pathlib import Path
from typing import Any

from sekisho.demo.exchange import Exchange

_JSON = "application/vnd.git-lfs+json"
_OID = re.compile("[0-9a-f]{64}")
_BATCH_LIMIT = 1 << 20


class Lfs:
    """Objects in a folder, by their sha256. Uploading takes a login, as pushing does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def handles(self, exchange: Exchange) -> bool:
        """Whether a request is one of LFS."""
        return "/info/lfs/" in exchange.path

    def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        rest = exchange.path.partition("/info/lfs/")[2]
        if rest == "objects/batch" and exchange.head.method == "POST":
            self._batch(exchange)
        elif rest == "locks/verify" and exchange.head.method == "POST":
            exchange.reply(404, b'{"message": "no locks here"}', _JSON)
        elif _OID.fullmatch(rest.removeprefix("objects/")):
            self._transfer(exchange, self._folder / rest.removeprefix("objects/"))
        else:
            exchange.reply(404, b'{"message": "not found"}', _JSON)

    def _batch(self, exchange: Exchange) -> None:
        wanted = json.loads(exchange.body.drain(keep=_BATCH_LIMIT))
        operation = wanted["operation"]
        if operation == "upload" and exchange.user is None:
            challenge(exchange)
            return
        objects = [self._answer(exchange, operation, item) for item in wanted["objects"]]
        content = {"transfer": "basic", "objects": objects}
        exchange.reply(200, json.dumps(content).encode(), _JSON)

    def _answer(self, exchange: Exchange, operation: str, item: dict[str, Any]) -> dict[str, Any]:
        answer = {"oid": item["oid"], "size": item["size"]}
        present = (self._folder / item["oid"]).exists()
        if operation == "download" and not present:
            return answer | {"error": {"code": 404, "message": "not here"}}
        if operation == "upload" and present:
            return answer
        host = exchange.head.header("host")
        base = exchange.path.removesuffix("batch")
        authorization = exchange.head.header("authorization")
        action = {
            "href": f"{exchange.link.scheme}://{host}{base}{item['oid']}",
            "header": {"Authorization": authorization} if authorization else {},
        }
        return answer | {"actions": {operation: action}}

    def _transfer(self, exchange: Exchange, path: Path) -> None:
        if exchange.head.method == "PUT":
            self._receive(exchange, path)
        elif path.exists():
            exchange.reply(200, path.read_bytes(), "application/octet-stream")
        else:
            exchange.reply(404, b'{"message": "not here"}', _JSON)

    def _receive(self, exchange: Exchange, path: Path) -> None:
        if exchange.user is None:
            challenge(exchange)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{exchange.link.number}")
        with partial.open("wb") as file:
            for block in exchange.body.blocks():
                file.write(block)
        if exchange.body.sha256 != path.name:
            partial.unlink()
            exchange.reply(422, b'{"message": "the content is not what its name says"}', _JSON)
            return
        partial.rename(path)
        exchange.reply(200, b"")


def challenge(exchange: Exchange) -> None:
    """Ask for a login, as public forges do."""
    exchange.reply(401, b"a login is needed\n", WWW_Authenticate='Basic realm="forge"')
