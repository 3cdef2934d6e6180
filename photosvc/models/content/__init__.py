"""Tables of the library: photos and files, what they refer to, and what people changed."""
