"""One SQLite file (ledger and journal), blobs, and the folders they live in."""
