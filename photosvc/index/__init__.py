"""The index: the way from a folder of originals to rows, in the steps scan, extract, stack and store."""
