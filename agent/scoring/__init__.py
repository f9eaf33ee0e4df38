"""Compute scores from stored answers."""
