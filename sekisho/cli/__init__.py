"""The command line: main, then one file per command."""
