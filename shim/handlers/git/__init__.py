"""git: options before the verb, settings, aliases, and each verb."""
