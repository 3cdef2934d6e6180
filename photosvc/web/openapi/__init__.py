"""The OpenAPI document: the API as its routes, policy, filters and records have it."""
