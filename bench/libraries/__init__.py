"""Libraries that the benchmarks read: made, repeated, copied, and found again."""
