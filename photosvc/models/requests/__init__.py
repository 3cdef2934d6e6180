"""Tables of what requests ask for or leave behind: uploads, imports, index runs, archives, WebDAV."""
