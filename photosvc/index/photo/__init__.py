"""What a photo is, computed from its files, and written into its row."""
