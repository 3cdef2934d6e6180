"""Colors of pictures and color profiles."""
