"""What people change in the library: edits of photos and their journal."""
