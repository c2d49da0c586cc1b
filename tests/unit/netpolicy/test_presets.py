import pytest

from netpolicy.presets import shipped
from netpolicy.world import World
from sekisho.core.action import Effect, Stakes
from tests.unit.netpolicy.requests import PUBLIC, judged

ALL = World(providers=None, resolved=PUBLIC)
READ, EXTERNAL, UNKNOWN, MODEL = Effect.READ, Effect.EXTERNAL, Effect.UNKNOWN, Effect.MODEL

REQUESTS: tuple[tuple[str, Effect], ...] = (
    ("POST https://api.anthropic.com/v1/messages", MODEL),
    ("POST https://api.anthropic.com/v1/messages/batches", EXTERNAL),
    ("GET https://api.anthropic.com/v1/models", READ),
    ("POST https://api.anthropic.com/v1/Messages", EXTERNAL),
    ("POST http://api.anthropic.com/v1/messages", EXTERNAL),
    ("POST https://api.anthropic.com:8443/v1/messages", EXTERNAL),
    ("POST https://api.openai.com/v1/responses", MODEL),
    ("POST https://api.openai.com/v1/images/generations", EXTERNAL),
    ("POST https://chatgpt.com/backend-api/codex/responses", MODEL),
    ("POST https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent", MODEL),
    ("POST https://generativelanguage.googleapis.com/v1beta/models/g:batchGenerateContent", EXTERNAL),
    ("POST https://bedrock-runtime.eu-west-1.amazonaws.com/model/a/converse", MODEL),
    ("POST https://bedrock-runtime.eu-west-1.amazonaws.com/model/a/async-invoke", EXTERNAL),
    ("POST https://acme.openai.azure.com/openai/deployments/g/chat/completions", MODEL),
    ("POST https://api.groq.com/openai/v1/chat/completions", MODEL),
    ("POST https://api.mistral.ai/v1/chat/completions", MODEL),
    ("POST https://api.mistral.ai/v1/agents", EXTERNAL),
    ("POST https://api.githubcopilot.com/chat/completions", MODEL),
    ("POST https://api.github.com/gists", EXTERNAL),
    ("GET https://raw.githubusercontent.com/a/b/main/README.md", READ),
    ("GET https://crates.io/api/v1/crates/serde", READ),
    ("PUT https://crates.io/api/v1/crates/new", EXTERNAL),
    ("GET https://auth.docker.io/token?scope=repository:a/b:pull", READ),
    ("GET https://auth.docker.io/token?scope=repository:a/b:push", EXTERNAL),
    ("GET https://a-bucket.s3.us-east-1.amazonaws.com/key", READ),
    ("GET https://sqs.us-east-1.amazonaws.com/1/q?Action=DeleteMessage", EXTERNAL),
    ("POST https://api.notion.com/v1/databases/x/query", READ),
    ("POST https://api.notion.com/v1/pages", EXTERNAL),
    ("GET https://api.render.com/deploy/srv-x?key=K", EXTERNAL),
    ("GET https://hc-ping.com/uuid", EXTERNAL),
    ("GET https://ntfy.sh/topic/Publish?message=hi", EXTERNAL),
    ("GET https://ntfy.sh/topic/json", READ),
    ("GET https://webhook.site/x", EXTERNAL),
    ("GET https://script.google.com/macros/s/x/exec", UNKNOWN),
    ("POST https://api.stripe.com/v1/charges", EXTERNAL),
)


@pytest.mark.parametrize(("line", "effect"), REQUESTS)
def test_presets_tell_reads_from_writes(line: str, effect: Effect) -> None:
    assert judged(line, ALL).effect is effect


def test_a_model_call_needs_a_configured_provider() -> None:
    line = "POST https://api.anthropic.com/v1/messages"
    assert judged(line, World(resolved=PUBLIC)).code == "model-not-configured"
    assert judged(line, World(resolved=PUBLIC, providers=frozenset({"openai"}))).effect is EXTERNAL
    assert judged(line, World(resolved=PUBLIC, providers=frozenset({"anthropic"}))).effect is MODEL


@pytest.mark.parametrize(
    "line",
    [
        "POST https://statsig.anthropic.com/v1/rgstr",
        "POST https://api.anthropic.com/api/event_logging/batch",
        "POST https://http-intake.logs.us5.datadoghq.com/api/v2/logs",
        "GET https://www.google-analytics.com/collect?v=1",
        "POST https://telemetry.somewhere.example/v1/x",
        "HEAD https://huggingface.co/api/telemetry/a",
    ],
)
def test_telemetry_is_dropped(line: str) -> None:
    assert judged(line, ALL).code == "telemetry-dropped"


def test_payments_have_stakes() -> None:
    assert judged("POST https://api.stripe.com/v1/customers", ALL).answers.stakes is Stakes.PAYMENT


def test_every_preset_has_hosts_in_lower_case_and_one_owner() -> None:
    directory = shipped()
    assert all(host == host.lower() for host in directory.exact)
    assert len(directory.by_name) > 40
    assert directory.find("evil.example") is None
    assert directory.find("api.anthropic.com.evil.example") is None
    assert directory.find("notgithub.com") is None
