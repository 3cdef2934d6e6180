"""What people and log collectors read and write: counts, lengths of time, moments, lines of the log."""
