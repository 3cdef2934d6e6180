"""The metadata record of a file, and what its sources share."""
