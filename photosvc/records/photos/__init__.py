"""Records of photos and files: search results as JSON and as Python objects, and full records."""
