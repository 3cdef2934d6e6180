"""Random queries, and a model in plain Python that answers them."""
