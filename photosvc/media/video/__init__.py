"""Video containers: metadata and one frame."""
