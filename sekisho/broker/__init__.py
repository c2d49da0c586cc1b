"""The gatekeeper: verdicts, holds, execution of approved acts, the end of a session."""
