"""Index runs: one at a time, on a wish or by command, with their options, steps and results."""
