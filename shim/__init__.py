"""Commands: argv -> Action, and the client that runs inside the sandbox."""
