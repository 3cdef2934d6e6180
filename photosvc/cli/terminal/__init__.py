"""What commands print, ask and complete."""
