"""Long bodies: files that requests send and answers contain, and how many are under way at the same time."""
