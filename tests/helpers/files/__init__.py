"""Files that tests read, made here byte by byte, and a disk that is soon full."""
