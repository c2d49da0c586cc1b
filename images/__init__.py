"""Container images for sessions: package lists and Dockerfiles that a person edits, and what builds them."""
