"""What a caller learns of another owner over HTTP: nothing (contract section 6)."""
