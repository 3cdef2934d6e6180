"""Pixels: pictures and camera raws, decoded behind one door."""
