"""Accounts: names, passwords, second factors."""
