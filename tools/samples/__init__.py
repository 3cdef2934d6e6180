"""Draws the sample pictures: `python -m tools.samples.draw FOLDER`."""
