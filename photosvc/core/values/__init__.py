"""Fixed values of photos and files: colours, orientations, sources of metadata, kinds of stacks."""
