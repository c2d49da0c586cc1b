"""SQL clients."""
