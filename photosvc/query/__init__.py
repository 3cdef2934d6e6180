"""The search language: a parser from text to frozen nodes, which imports neither Flask nor SQLAlchemy."""
