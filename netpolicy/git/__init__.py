"""git's smart HTTP protocol: what a push says, and how to answer it. Pure."""
