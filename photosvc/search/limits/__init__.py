"""Limits of searches: how long one may take, and how many costly ones run at the same time."""
