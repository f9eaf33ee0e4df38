"""Merging and bounding detected spans."""
