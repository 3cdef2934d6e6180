"""XMP: packets, sidecars and the regions in them."""
