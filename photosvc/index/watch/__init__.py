"""Following the folder of originals: events, wishes and slow sweeps become index runs."""
