"""Suggestions for what somebody is typing: filters, and the values that the library has for them."""
