"""The policy as pure data: every section of `sekisho.toml` and of a person's `config.toml`.

The defaults are the built-in layer. Durations are in seconds, sizes in bytes, rates as
`Rate(count, seconds)`; how they are written and checked is told by the marks in `Annotated`, which
`load` reads. `source` and `person` of a rule are filled in by `load`: where it stands ("file:line"),
and whether it is from the person's own config.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sekisho.core.gate import Gate


class Rate(msgspec.Struct, frozen=True):
    """At most `count` times within `seconds`."""

    count: int
    seconds: float


def _written(kind: str, example: str) -> Meta:
    schema = {"type": "string", "examples": [example], "$comment": kind}
    return Meta(extra={"written": kind}, extra_json_schema=schema)


Duration = Annotated[float, _written("duration", "30m")]
Size = Annotated[int, _written("size", "4G")]
RateText = Annotated[Rate, _written("rate", "60/m")]
Host = Annotated[str, _written("host", "*.example.com")]
Path = Annotated[str, _written("path", "/v1/**")]
Ref = Annotated[str, _written("ref", "release/*")]
Method = Annotated[str, _written("method", "POST")]
Secret = Annotated[str, _written("secret", "env:API_KEY")]
Announce = Annotated[str, _written("announce", "env:NTFY_URL")]
Address = Annotated[str, _written("address", "10.1.2.3:8443")]
FilePath = Annotated[str, _written("file", "certs/ca.pem")]
Digest = Annotated[str, _written("digest", "sha256:<64 hex digits>")]
RuleGate = Annotated[Gate, _written("gate", "human")]  # never "none": that is what an effect says
Text = Annotated[str, _written("text", "build")]  # not empty
Port = Annotated[int, Meta(ge=1, le=65535)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=1)]
Cores = Annotated[float, Meta(gt=0)]
Argv = Annotated[tuple[Text, ...], Meta(min_length=1)]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A table of the file."""


class Rule(Section, frozen=True, kw_only=True):
    """An entry of a list of tables."""

    source: str = "built-in"
    person: bool = False


class Project(Section, frozen=True, kw_only=True):
    """`protected`: refs never forced or deleted. `environments`: hosts by environment's name."""

    protected: tuple[Ref, ...] = ("main", "master", "release/*")
    environments: dict[str, tuple[Host, ...]] = {}


class Tools(Section, frozen=True, kw_only=True):
    """`keep` adds to the standard tool set; `only` replaces it."""

    keep: tuple[Text, ...] = ()
    only: tuple[Text, ...] | None = None


class Limits(Section, frozen=True, kw_only=True):
    """What a session may use; None is unlimited. Memory in bytes, time in seconds."""

    memory: Size | None = None
    pids: Count | None = None
    cpus: Cores | None = None
    time: Duration | None = None


class Sandbox(Section, frozen=True, kw_only=True):
    """The enclosure. `env` names variables of the person's that are passed on."""

    backend: Literal["auto", "bwrap", "docker"] = "auto"
    image: Text | None = None
    tools: Tools = Tools()
    destructive: Literal["checkpoint", "human", "deny"] = "checkpoint"
    hide_paths: tuple[Text, ...] = (".env",)
    mount: tuple[FilePath, ...] = ()
    carry: tuple[Text, ...] = ()
    env: tuple[Text, ...] = ()
    limits: Limits = Limits()


class PushRule(Rule, frozen=True, kw_only=True):
    """The gate of pushes to matching refs, on any remote of the repository or on a named one.

    `remote` is `host/path` with `*`, such as `github.com/acme/*`.
    """

    ref: Ref
    gate: RuleGate
    remote: Text | None = None


class Git(Section, frozen=True, kw_only=True):
    """The most specific rule decides; without one a person does."""

    push: tuple[PushRule, ...] = ()


class HostEntry(Rule, frozen=True, kw_only=True):
    """A listed host and, where it is a known service, its profile (which POSTs are reads)."""

    host: Host
    profile: Text | None = None


class RequestExamples(Section, frozen=True, kw_only=True):
    """`METHOD URL` texts that the rule must match and must not match."""

    match: tuple[Text, ...] = ()
    no_match: tuple[Text, ...] = ()


class CommandExamples(Section, frozen=True, kw_only=True):
    """Argument lists that the rule must match and must not match."""

    match: tuple[Argv, ...] = ()
    no_match: tuple[Argv, ...] = ()


class NetworkRule(Rule, frozen=True, kw_only=True):
    """The effect of matching requests. `gate = "auto"` needs `reversible` and `checkable`."""

    host: Host
    effect: Literal["read", "external", "unknown", "forbidden"]
    method: Method = "*"
    path: Path = "/**"
    gate: RuleGate | None = None
    reversible: bool = False
    checkable: bool = False
    sensitive: bool = False
    rate: RateText | None = None
    examples: RequestExamples = RequestExamples()


class Model(Rule, frozen=True, kw_only=True):
    """A model provider; its key stays outside. `host` where the provider is not a known one."""

    provider: Text
    key: Secret
    host: Host | None = None
    rate: RateText | None = None


class Local(Rule, frozen=True, kw_only=True):
    """A port of the person's machine that appears inside."""

    port: Port


class CredentialEntry(Rule, frozen=True, kw_only=True):
    """A login for a host: for reads too, or only for approved acts."""

    host: Host
    value: Secret
    use: Literal["read", "approved"] = "approved"
    header: Text = "Authorization"
    scheme: Literal["bearer", "basic", "token", "none"] = "bearer"
    user: Text | None = None


class Network(Section, frozen=True, kw_only=True):
    """`budget`: bytes that reads may send to hosts that are not listed, per host and session."""

    default: Literal["read", "listed", "gated"] = "read"
    budget: Size = 256 * 1024
    resolve: dict[Host, Address] = {}
    ca: FilePath | None = None
    host: tuple[HostEntry, ...] = ()
    rule: tuple[NetworkRule, ...] = ()
    model: tuple[Model, ...] = ()
    local: tuple[Local, ...] = ()
    credential: tuple[CredentialEntry, ...] = ()


class Command(Rule, frozen=True, kw_only=True):
    """A command by its shape; more arguments may follow, except where the gate is `auto`.

    A project script that is `auto` needs the `digest` of its content.
    """

    match: Argv
    gate: RuleGate
    instead: str = ""
    digest: Digest | None = None
    examples: CommandExamples = CommandExamples()


class Tool(Rule, frozen=True, kw_only=True):
    """A classified tool: an MCP tool by its name, or a command by its first words."""

    name: Text
    type: Literal["read", "write"]
    sensitive: bool = False
    gate: RuleGate | None = None
    reversible: bool = False
    checkable: bool = False
    rate: RateText | None = None
    schema: FilePath | None = None
    requires_dry_run: bool = False
    dry_run: Argv | None = None
    rollback: Argv | None = None


class Approval(Section, frozen=True, kw_only=True):
    """Seconds until an approval and a pending hold expire; where new holds are announced."""

    expires: Duration = 30 * 60.0
    hold_expires: Duration = 14 * 86400.0
    notify: tuple[Announce, ...] = ()


class Done(Section, frozen=True, kw_only=True):
    """What must hold before the work counts as done."""

    checks: tuple[Argv, ...] = ()
    checklist: FilePath | None = None


class Brief(Section, frozen=True, kw_only=True):
    """`advice`: a file of guidance that is not enforced."""

    advice: FilePath | None = None


class Review(Section, frozen=True, kw_only=True):
    """How often the classification is looked at again, in seconds."""

    every: Duration = 90 * 86400.0


class Audit(Section, frozen=True, kw_only=True):
    """The share of reads that is recorded in full."""

    read_sample: Share = 0.05


class Locked(Section, frozen=True, kw_only=True):
    """Only in the person's config: dotted keys that later layers may tighten but not loosen."""

    keys: tuple[Text, ...] = ()


class Allow(Section, frozen=True, kw_only=True):
    """Only in the person's config: protected refs for which a person may approve what is forbidden."""

    force_push: tuple[Ref, ...] = ()
    delete: tuple[Ref, ...] = ()


class Policy(Section, frozen=True, kw_only=True):
    """The whole policy. `given`: the dotted keys that were set, and where ("file:line")."""

    version: Literal[1] = 1
    project: Project = Project()
    sandbox: Sandbox = Sandbox()
    git: Git = Git()
    network: Network = Network()
    command: tuple[Command, ...] = ()
    tool: tuple[Tool, ...] = ()
    approval: Approval = Approval()
    done: Done = Done()
    brief: Brief = Brief()
    review: Review = Review()
    audit: Audit = Audit()
    locked: Locked = Locked()
    allow: Allow = Allow()
    given: dict[str, str] = {}


BUILTIN = Policy()
PERSON_ONLY = ("locked", "allow")
INTERNAL = ("source", "person", "given")
