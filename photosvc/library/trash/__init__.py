"""The trash: its folder, the deletions that fill it, and the way back out of it."""
