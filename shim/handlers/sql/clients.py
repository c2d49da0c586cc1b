"""Which function judges which database client."""

from sekisho.core.action import Effect
from shim.call import Call, Handler
from shim.handlers.sql.mysql import mysql
from shim.handlers.sql.places import database_place, hosts_of
from shim.handlers.sql.postgres import psql
from shim.handlers.sql.sqlite import sqlite
from shim.options import Spec, parse, spec
from shim.text import HOLE


def _maintenance(effect: Effect, options: Spec, reason: str) -> Handler:
    """A tool with one effect on its database."""

    def handler(call: Call) -> str | None:
        parsed = parse(call.arguments, options)
        if parsed.has("--help", "--version", "-V", "-?"):
            call.does(Effect.READ, call.name, "prints help")
            return HOLE
        words = parsed.words + parsed.all("-d", "--dbname")
        hosts = hosts_of(call, parsed, "-h --host", "PGHOST MYSQL_HOST", words)
        place, target = database_place(hosts), (hosts or parsed.words or ["local database"])[0]
        if effect is Effect.READ or place is Effect.READ:
            call.does(effect, target, reason)
        else:
            call.does(place, target, reason, code="sql-write")
        for path in filter(None, parsed.all(*_FILES)) if effect is Effect.READ else ():
            call.writes(path)
        return HOLE

    return handler


_FILES = ("-f", "--file", "-r", "--result-file", "--archive", "-o", "--out")
_MONGO = spec(
    "-h --host --port -u --username -p --password -d --db -c --collection -q --query --fields -o --out --uri "
    "--type --authenticationDatabase --sort --limit",
    optional="--archive",
)
_PG = spec(
    "-h --host -p --port -U --username -d --dbname -f --file -F --format -j --jobs -t --table -n --schema "
    "-N -T --exclude-table -O --owner -E --encoding -l --locale -T --template -D --tablespace -r "
    "--result-file -u --user -Z --role --maintenance-db -S -Q --where",
    optional="--password",
)


HANDLERS: dict[str, Handler] = {
    "psql": psql,
    "pgcli": psql,
    **dict.fromkeys(("mysql", "mariadb", "mycli"), mysql),
    **dict.fromkeys(("sqlite3", "sqlite", "litecli"), sqlite),
    **dict.fromkeys(
        ("pg_dump", "pg_dumpall", "pg_isready", "mysqldump", "mariadb-dump", "pg_basebackup"),
        _maintenance(Effect.READ, _PG, "copies a database out"),
    ),
    **dict.fromkeys(("mongodump", "mongoexport"), _maintenance(Effect.READ, _MONGO, "copies a database out")),
    **dict.fromkeys(
        ("createdb", "createuser", "vacuumdb", "reindexdb", "clusterdb", "mysqlimport"),
        _maintenance(Effect.LOCAL, _PG, "changes a database"),
    ),
    **dict.fromkeys(
        ("dropdb", "dropuser", "pg_restore", "mysqladmin", "mongorestore", "mongoimport"),
        _maintenance(Effect.DESTRUCTIVE, _PG, "replaces or deletes data"),
    ),
}
