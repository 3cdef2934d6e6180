"""Properties of files and folders, and the XML that asks for them (RFC 4918 sections 4, 9.1, 9.2 and 15)."""
