"""Sidecars: files beside a picture that say more about it; what they are called, what they contain, whose they are."""
