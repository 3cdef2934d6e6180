"""Processes for untrusted decoding."""
