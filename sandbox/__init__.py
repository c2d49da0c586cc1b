"""Enclosure: a spec rendered to bubblewrap or Docker, and the workspace inside it."""
