"""Benchmarks of searches: in this process, over HTTP, beside costly ones, and by month."""
