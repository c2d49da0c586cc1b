"""The presets: which public hosts are which service, as shipped in `presets.toml`.

A host is a name or a pattern in which `*` is any run of characters, dots included. A preset names a
`kind` (asked first, on `kind_paths` only where given), rows of its own (see `table`), the `provider`
that must be configured for its `model` rows to count, and `stakes` that all its writes have.
"""

from functools import cache, lru_cache
from pathlib import Path

import msgspec

from netpolicy.call import Call, Finding, external
from netpolicy.kinds import JUDGES
from netpolicy.table import Paths, Row, Table, row
from sekisho.core.action import Effect, Stakes
from sekisho.core.patterns import name_matches


class PresetText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One preset as written."""

    name: str
    hosts: tuple[str, ...]
    kind: str | None = None
    kind_paths: tuple[str, ...] = ()
    provider: str | None = None
    model: tuple[str, ...] = ()
    socket: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    stakes: Stakes | None = None


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    preset: tuple[PresetText, ...]


class Preset:
    """A preset. `judge` may be asked only what `applies`; `held` counts anywhere on its hosts."""

    def __init__(self, text: PresetText) -> None:
        self.name = text.name
        self.provider = text.provider
        self.stakes = text.stakes
        self.kind = text.kind
        self.source = f"preset:{text.name}"
        if text.kind and text.kind not in JUDGES:
            raise ValueError(f"there is no kind {text.kind!r}")
        self._paths = tuple(Paths(path, fold=False) for path in text.kind_paths)
        self._sockets: tuple[Row, ...] = tuple(row(entry, fold=False) for entry in text.socket)
        self.table = Table(
            text.name,
            drop=text.drop,
            write=text.write,
            unknown=text.unknown,
            model=text.model,
            read=text.read,
            source=self.source,
        )

    def held(self, call: Call) -> Finding | None:
        """Its telemetry, acting GETs and writes: by whatever scheme or port they come."""
        return self.table.held(call)

    def _by_kind(self, call: Call) -> Finding | None:
        if self.kind is None:
            return None
        if self._paths and not any(paths.has(call.path) for paths in self._paths):
            return None
        return JUDGES[self.kind](call)

    def judge(self, call: Call, providers: frozenset[str] | None) -> Finding | None:
        """What the service says about a call; `providers` None: every provider is configured."""
        found = (
            self.table.held(call) or self.table.freed(call) or self._by_kind(call) or self.table.unnamed(call)
        )
        if found is not None and found.effect is Effect.MODEL and not self.configured(providers):
            why = (
                f"no [[network.model]] of the policy names {self.provider}, so a call to its model is a write"
            )
            return external(why, code="model-not-configured")
        return found

    def configured(self, providers: frozenset[str] | None) -> bool:
        """Whether the agent's own model calls may go there."""
        return providers is None or bool(providers & {self.name, self.provider or self.name})

    def socket(self, call: Call, providers: frozenset[str] | None) -> bool:
        """Whether a WebSocket handshake opens the provider's own model channel."""
        return self.configured(providers) and any(entry.matches(call) for entry in self._sockets)


class Directory:
    """Finds the preset of a host: an exact name first, then the longest pattern."""

    def __init__(self, presets: tuple[tuple[tuple[str, ...], Preset], ...]) -> None:
        self.by_name = {preset.name: preset for _, preset in presets}
        self.by_provider = {preset.provider: preset for _, preset in reversed(presets) if preset.provider}
        self.exact: dict[str, Preset] = {}
        patterns: list[tuple[str, Preset]] = []
        for hosts, preset in presets:
            for host in hosts:
                if "*" in host:
                    patterns.append((host, preset))
                else:
                    self.exact[host] = preset
        patterns.sort(key=lambda entry: -len(entry[0].replace("*", "")))
        self._patterns = tuple(patterns)
        self.find = lru_cache(maxsize=4096)(self._find)

    def _find(self, host: str) -> Preset | None:
        if host in self.exact:
            return self.exact[host]
        return next((preset for pattern, preset in self._patterns if name_matches(pattern, host)), None)


def directory(text: str) -> Directory:
    """Reads the presets of a TOML text. Raises msgspec.ValidationError or ValueError."""
    import tomllib  # `shipped` is asked once, and not by everything that imports this

    file = msgspec.convert(tomllib.loads(text), File)
    return Directory(tuple((entry.hosts, Preset(entry)) for entry in file.preset))


@cache
def shipped() -> Directory:
    """The presets of this package, read once: the one place here that reads a file."""
    return directory(Path(__file__).with_name("presets.toml").read_text("utf-8"))
