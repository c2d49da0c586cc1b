"""The shell: reading bash text into nodes, and walking them without running anything."""
