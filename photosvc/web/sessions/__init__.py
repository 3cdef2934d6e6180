"""Login sessions: logging in, the cookie of the web page, changes of the own account."""
