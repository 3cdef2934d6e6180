"""The photos: a page for each search and each photo of it."""
