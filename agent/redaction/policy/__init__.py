"""Redaction policies, shipped or written by a site."""
