"""Commands about photos: indexing, importing, finding, checking and removing them."""
