"""Working in the person's own working tree, with git's own files kept apart. See `mounting` for why."""
