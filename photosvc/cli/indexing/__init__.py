"""Commands from folders of originals to the library, and what they share."""
