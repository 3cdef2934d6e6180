"""The HTTP routes, a file for each resource."""
