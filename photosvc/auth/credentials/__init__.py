"""Bearer credentials: issue, verify, revoke; login sessions; tokens in links."""
