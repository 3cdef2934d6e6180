"""WebDAV: the originals as a network folder at `/originals/` (RFC 4918)."""
