"""The one table of work to do: its queue, and the lease of each run."""
