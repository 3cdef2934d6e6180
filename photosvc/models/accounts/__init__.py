"""The tables of accounts: users, clients, their credentials, and failed attempts."""
