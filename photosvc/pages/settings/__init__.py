"""Settings > Account: what people change of their own account, its app passwords and sessions."""
