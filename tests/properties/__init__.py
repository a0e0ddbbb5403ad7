"""Properties: random input against an oracle in plain Python or numpy."""
