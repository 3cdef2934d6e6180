"""Places: the photos of a search on a map, and the countries and towns where they were taken."""
