"""Edits of photos by people: values with the source `manual`, which outlive every index run, and taking them back.

The values of a photo come from its files and sidecars (`index.describing.describe`). A person's value replaces one of
them, and None gives it back to the files.
"""
