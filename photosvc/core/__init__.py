"""Names everything else is built from: errors, identifiers, the clock, safe paths, plain geography."""
