"""The database: its engine, transactions and schema, and statements for many rows."""
