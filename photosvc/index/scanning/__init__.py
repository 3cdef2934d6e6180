"""Which files an index run has to read: the folder of originals compared with the database."""
