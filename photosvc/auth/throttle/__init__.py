"""Failed attempts are counted and slowed down."""
