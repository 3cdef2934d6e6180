"""Pictures and camera raws, opened and decoded within limits; their colours and perceptual hashes."""
