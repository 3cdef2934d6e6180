"""Clients that tests call the service with."""
