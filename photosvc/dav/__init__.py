"""WebDAV: the originals as a network folder, over WsgiDAV (extra `webdav`)."""
