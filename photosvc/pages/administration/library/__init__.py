"""What the library has, does and takes: index runs, files that failed, the trash, look-alikes and statistics."""
