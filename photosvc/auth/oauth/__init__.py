"""OAuth2: registered clients, their tokens, discovery metadata and signing keys."""
