"""Metrics that a site wrote in Python: their files and digests, their declarations, and the process that runs them."""
