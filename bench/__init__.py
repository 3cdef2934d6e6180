"""Benchmarks: generated libraries, peer programs to compare with, and tables of the results."""
