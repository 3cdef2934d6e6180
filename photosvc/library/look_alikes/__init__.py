"""Photos that look alike: found by the indexer, kept in groups, and decided on by people."""
