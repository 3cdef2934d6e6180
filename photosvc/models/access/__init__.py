"""Tables of who may use the service, of what was done with it, and of its keys."""
