"""Names in a query become ids: albums, cameras, lenses, people and places."""
