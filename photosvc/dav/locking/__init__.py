"""Locks, and the conditions of requests that name them (RFC 4918 sections 6, 7 and 10.4)."""
