"""What tests put into a library: accounts, photos, a library of every sort."""
