"""What photos are called by: people, marked areas and labels."""
