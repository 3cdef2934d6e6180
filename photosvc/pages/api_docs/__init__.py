"""The API as its OpenAPI document describes it, to read in a browser."""
