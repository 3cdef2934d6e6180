"""Measurements: libraries made up for them, peers to compare with, tables of what came out."""
