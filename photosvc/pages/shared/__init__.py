"""The pages of shared albums, for visitors of public links and for accounts."""
