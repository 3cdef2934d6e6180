"""Programs that make the data shipped in the package, and check its tests; run from a checkout, not installed."""
