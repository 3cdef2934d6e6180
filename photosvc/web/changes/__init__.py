"""Changes of the library that a request may need several transactions for: from the API or the web page."""
