"""Albums: of people, and those that follow from the library; what is in them, and in which order."""
