"""Pages of results: which files of an order they show, and the stored texts of these."""
