"""The content of files and folders: GET, PUT, COPY, MOVE, DELETE and MKCOL."""
