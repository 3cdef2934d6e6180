"""The records that requests and answers hold, as Marshmallow schemas (spec section 2)."""
