"""The tables, on a declarative base of our own."""
