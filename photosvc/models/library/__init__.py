"""The tables of the library: photos, their files, and what describes and collects them."""
