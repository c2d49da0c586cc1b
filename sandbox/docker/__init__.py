"""The enclosure as a container: the same spec, rendered for a Docker engine on this machine."""
