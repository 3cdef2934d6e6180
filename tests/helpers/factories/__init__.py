"""What tests store in a library: accounts and clients, generated photos; libraries that index or import at once."""
