"""Commands about photos: finding, changing, checking and removing them, and their thumbnails."""
