"""Hidden snapshots that make a destructive command reversible, in a store outside the sandbox."""
