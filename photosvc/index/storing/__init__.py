"""From extractions to rows: batches of files, each stored in one transaction."""
