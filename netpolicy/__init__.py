"""Network: request -> Action, and the proxy that is the only way out."""
