"""What belongs to the whole service: its parts and addresses, users of the host app, the indexer process."""
