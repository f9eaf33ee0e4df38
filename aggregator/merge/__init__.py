"""Merging sites' results into a board. Pure."""
