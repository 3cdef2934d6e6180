"""What people change: photos, albums and the persons on photos."""
