"""The write side of the search: computes the search rows of a photo and stores them."""
