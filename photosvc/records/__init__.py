"""The shapes on the wire, as Marshmallow schemas (spec section 2)."""
