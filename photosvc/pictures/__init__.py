"""What files of the library look like outside: thumbnails and their cache, originals, videos, zip archives."""
