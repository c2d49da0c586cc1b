"""sekisho: a checkpoint around an unattended coding agent."""

__version__ = "0.1.0"
