"""Pure decisions: no file, socket, process or clock is touched here."""
