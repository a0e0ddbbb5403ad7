"""Message content: the format 2 of the wire, its text, its chunks. Plain Python, no models."""
