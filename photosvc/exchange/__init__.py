"""The way in and the way out: values of the library in the formats of other programs."""
