"""What every layer may import: errors, identifiers, the clock, safe paths, geography."""
