"""Python on a command line."""
