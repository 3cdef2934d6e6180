"""The read side of the search, from parameters to a page of results."""
