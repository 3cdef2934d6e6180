"""Accounts, credentials and OAuth2 clients, and the policy that decides on their access."""
