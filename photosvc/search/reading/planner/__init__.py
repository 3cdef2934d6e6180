"""How the rows of a page are found; `plan` explains it."""
