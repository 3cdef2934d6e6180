"""Programs to compare with, and the servers that run them and the service."""
