"""A session as its gatekeeper knows it, without one that runs."""

from pathlib import Path
from typing import Any

import certifi
import msgspec

from sekisho.broker.state import SessionState, load_state
from sekisho.core.policy import Policy
from sekisho.session import settings
from sekisho.session.config import SessionConfig


def session_state(folder: Path, session: str, policy: Policy, **changes: Any) -> SessionState:
    """Its files lie in `folder`, which is the project, too; `changes` replace parts of its configuration."""
    (folder / "policy.json").write_bytes(settings.encode(policy))
    (folder / "outbox").mkdir(exist_ok=True)
    config = SessionConfig(
        session=session,
        project=str(folder),
        folder=str(folder),
        clone=str(folder / "clone"),
        policy_file=str(folder / "policy.json"),
        policy_digest="d",
        authority=str(folder),
        roots=certifi.where(),
    )
    return load_state(msgspec.structs.replace(config, **changes))
