"""What tests store in a library: accounts and clients, generated photos, a varied library."""
