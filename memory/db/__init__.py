"""One vocabulary over PostgreSQL with pgvector and SQLite; importing it needs no driver."""
