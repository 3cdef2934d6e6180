"""What a request says and from where it comes; its line in the access log and its count."""
