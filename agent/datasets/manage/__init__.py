"""Fetch, check and register datasets."""
