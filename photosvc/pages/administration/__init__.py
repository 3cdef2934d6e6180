"""The pages of Administration, one module for each section."""
