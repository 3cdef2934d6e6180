"""The write side of the search: from a photo to its search rows."""
