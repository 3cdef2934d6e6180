"""Files of the library as they are moved and removed, those that failed, and the disks that they take."""
