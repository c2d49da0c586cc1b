"""Which files and lines are secret-shaped. Values are put together, so that no scanner stumbles here."""

import pytest

from sandbox.workspace.secrets import scan, secret_file, secret_name

GITHUB = b"ghp_" + b"a1B2" * 9
KEY = b"-----BEGIN OPENSSH PRIVATE" + b" KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAA\n"
CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nMIIB\n"

SECRET_NAMES = [
    ".env",
    ".env.production",
    ".env.bak.123",
    ".envrc",
    "sub/.env",
    "prod.tfvars",
    "x.auto.tfvars",
    ".netrc",
    ".pypirc",
    "kubeconfig",
    "service-account.json",
    "my-service_account-1.json",
    "key.p12",
    "store.jks",
    "id_rsa",
    "id_ed25519",
    ".ssh/config",
    ".secrets/a.json",
    ".aws/credentials",
    ".git-credentials",
    "terraform.tfstate",
    ".docker/config.json",
    "prod.env",
    "日本.env",
    "client_secret_1.json",
]
PLAIN_NAMES = [
    ".env.example",
    ".env.sample",
    ".env-template",
    "env.py",
    "src/environment.ts",
    "id_rsa.pub",
    ".npmrc",
    "package.json",
    "kubeconfig.md.example",
    "secrets.py",
    "token.go",
    "keyboard.c",
    "README.md",
    "secrets/README.md",
    "monkey",
    ".envoy",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_secret_by_name(name: str) -> None:
    assert secret_name(name.encode())


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_plain_by_name(name: str) -> None:
    assert secret_name(name.encode()) is None


@pytest.mark.parametrize("name", [b"a b.pem", b"x\ty.key", b"new\nline.env", b"\xff\xfe.key"])
def test_exact_bytes_of_odd_names_are_seen(name: bytes) -> None:
    assert secret_name(name)


def test_certificate_is_public_and_key_is_not() -> None:
    assert secret_file(b"ca.pem", CERTIFICATE) is None
    assert secret_file(b"ca.pem", CERTIFICATE + KEY)
    assert secret_file(b"notes.txt", KEY)


SECRET_TEXTS = [
    b"echo " + GITHUB + b" > out",
    KEY,
    b'{"private_key": "-----BEGIN PRIVATE' + b" KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw" + b'"}',
    b"aws = AKIA" + b"QWERTYUIOPASDFGH",
    b"//registry.example/:_authToken=" + b"8f2b6c1e-77aa-4d0e",
    b'API_KEY = "' + b"q8Zk2LmX91vTbN47" + b'"',
    b"password: " + b"hT7-kLm9-Qz3x-Yp2",
    b"url = postgres://app:" + b"Wq82kdLx0@db.internal/prod",
    b"sk-ant-" + b"api03-" + b"Ab1_" * 8,
    b"glpat-" + b"AbCdEfGhIj0123456789",
    b"eyJhbGciOiJIUzI1NiJ9." + b"eyJzdWIiOiIxMjM0NTY3ODkwIn0." + b"dozjgNryP4J3jVmNHl0w5N",
]
PLAIN_TEXTS = [
    b"if (apiKey > 5) {}",
    b"# send token > file",
    b"secret >> 2",
    b"password_hash = sha256(x)",
    b"KEY=${KEY}",
    b"API_KEY=$API_KEY",
    b"token: str",
    b"token: Optional[str] = None",
    b"def f(password: SecretStr, api_key=None): ...",
    b"| token | the access token of the user |",
    b'token = os.environ["GITHUB_TOKEN"]',
    b'password = "changeme-please-1"',
    b'api_key = "your-api-key-here-123"',
    b"secret = settings.get_secret(name='db1')",
    b"access_key = config.access_key_v2",
    b"aws = AKIAIOSFODNN7EXAMPLE",
    b"postgres://user:${DB_PASSWORD}@host/db",
    b"https://example.com/a:b@c",
    b"//registry.example/:_authToken=${NPM_TOKEN}",
    b"# a '-----BEGIN RSA PRIVATE KEY-----' header follows",
    b"token_path: /var/run/secrets/service1/token2",
    b"the secret: never give up on 12 things",
]


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_secret_text_is_found(text: bytes) -> None:
    assert scan(b"first line\n" + text + b"\n")[0].line == 2


@pytest.mark.parametrize("text", PLAIN_TEXTS)
def test_plain_text_is_no_alarm(text: bytes) -> None:
    assert scan(text) == []


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_excerpt_does_not_give_the_secret_away(text: bytes) -> None:
    for match in scan(text):
        assert len(match.excerpt) < 60
        assert GITHUB.decode() not in match.excerpt
        assert "q8Zk2LmX91vTbN47" not in match.excerpt
        assert "Wq82kdLx0" not in match.excerpt


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", [b"password", b"a-", b"x://", b"token = ", b"-----BEGIN ", b"eyJ", b"\n", b"'"]
)
def test_hostile_text_is_scanned_in_good_time(piece: bytes) -> None:
    scan(piece * ((1 << 20) // len(piece)))
