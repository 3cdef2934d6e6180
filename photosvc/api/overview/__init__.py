"""The photos of a search by month, on a map, and in the forms of picture viewers."""
