"""The routes of what a library shows: thumbnails, originals, videos and archives of originals."""
