"""Places and time zones of positions, without a network."""
