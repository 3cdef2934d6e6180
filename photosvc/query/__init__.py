"""The search language: text in, frozen nodes out. Knows neither Flask nor SQLAlchemy."""
