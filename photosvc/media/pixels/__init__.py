"""Pictures and camera raws, opened and decoded within limits."""
