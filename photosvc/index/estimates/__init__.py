"""Estimated places: where photos without a position were taken, from those before and after."""
