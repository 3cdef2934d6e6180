"""The trash: originals that people deleted or replaced, kept on the same disk with their way back."""
