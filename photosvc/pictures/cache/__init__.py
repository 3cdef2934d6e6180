"""The cache of derived pictures: its folder, what it takes, and what leaves it."""
