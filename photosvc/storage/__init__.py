"""Originals that are not on a disk: buckets of S3-compatible storage."""
