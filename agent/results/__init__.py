"""Summaries and comparisons of scored runs."""
