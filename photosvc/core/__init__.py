"""The lowest layer, which every other one may import: errors, identifiers, the clock, safe paths, geography."""
