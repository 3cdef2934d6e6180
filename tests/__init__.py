"""The tests of photosvc, and what they share."""
