"""Merging of sites' results into a board. Pure."""
