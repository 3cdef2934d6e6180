"""Filter values: from text to typed operands."""
