"""How the database is asked: by the order, or from the photos that one condition finds."""
