"""From saved messages to vectors: the outbox, and the work that empties it (contract section 4)."""
