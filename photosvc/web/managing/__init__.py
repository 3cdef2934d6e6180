"""Accounts, clients and tokens, as administrators change them."""
