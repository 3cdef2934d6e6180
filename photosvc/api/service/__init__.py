"""What clients and monitors ask about the service itself."""
