"""Commands about who may use the service: accounts, clients, tokens, keys and the security log."""
