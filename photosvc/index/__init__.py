"""From a folder of originals to rows: scan, extract, stack, store."""
