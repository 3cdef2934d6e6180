"""Programs that make the data shipped in the package; run from a checkout, not installed."""
