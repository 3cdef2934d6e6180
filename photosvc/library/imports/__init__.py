"""Imports: the files of a folder come into the originals as uploads do, each copied whole before it is added."""
