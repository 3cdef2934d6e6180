"""Signing in and out, and the first account of a library."""
