"""OAuth endpoints in Flask: requests, read strictly, and Authlib's server."""
