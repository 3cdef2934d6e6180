"""Edits of photos, one or many, and the entries of their history."""
