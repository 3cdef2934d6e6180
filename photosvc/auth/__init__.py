"""Who may do what: scopes, tokens, principals, the policy table."""
