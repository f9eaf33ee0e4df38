"""Turns a hospital's files into instances; checks digests and access."""
