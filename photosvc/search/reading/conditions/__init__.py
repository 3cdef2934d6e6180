"""SQL conditions on search rows."""
