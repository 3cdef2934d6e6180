"""Bearer credentials: issued, verified, revoked."""
