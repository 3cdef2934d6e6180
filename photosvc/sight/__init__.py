"""Sight: what pictures show, found by small models on this machine; optional, by extras of their own."""
