"""Suggestions while a query is typed: filters, and the values that the library has for them."""
