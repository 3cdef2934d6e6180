"""The records in requests and answers, as Marshmallow schemas."""
