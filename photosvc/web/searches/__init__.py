"""Searches of a request or of a host app, within their limits."""
