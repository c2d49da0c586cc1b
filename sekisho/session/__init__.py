"""A session from start to end, in the process that launches it: place, enclosure, relay, results, handoff."""
