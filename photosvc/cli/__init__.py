"""The `svc` command line."""
