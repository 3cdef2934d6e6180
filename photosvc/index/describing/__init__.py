"""What the files of a photo say about it, as columns of its row."""
