"""Authlib's authorization server, with a strict reader in front and errors in the form of RFC 6749."""
