"""A dozen drawn pictures with rich metadata, so that a fresh installation has something to show."""
