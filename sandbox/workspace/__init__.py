"""The session's own clone: made before, mounted during, collected after; its results applied.

Import from its modules: what a start needs is a small part of them, and it must not wait for the rest.
"""
